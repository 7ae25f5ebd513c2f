#pragma once

#include <cstdint>
#include <vector>

#include "core/time/time.hpp"
#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// A row of the /faults table.
struct FaultRecord {
  TenantId tenant;
  VirtualPage page;
  std::uint32_t pages = 0;     ///< pages that moved with the fault
  std::uint32_t position = 0;  ///< older granules that were pending at the GMMU
  bool migrated = false;       ///< true: data came over the link
  bool local = false;          ///< true: the GPU handled the fault by itself
  Time found, arrived, served, mapped;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenant, page, pages, position, migrated, local, found, arrived, served, mapped);
  }
};

/// Rows on the fate of faults, if `record_faults` asks for them.
class FaultLog {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit FaultLog(bool enabled) : enabled_(enabled) {}

  bool enabled() const { return enabled_; }
  /// Adds a row.  Returns its number.
  std::uint32_t add(const FaultRecord& record) {
    records_.push_back(record);
    return static_cast<std::uint32_t>(records_.size() - 1);
  }
  /// Removes the first `dropped` of the expected pages from the record.
  void shorten(std::uint32_t number, std::uint64_t dropped) {
    if (number == none) return;
    records_[number].page += dropped;
    records_[number].pages -= static_cast<std::uint32_t>(dropped);
  }
  void mapped(std::uint32_t number, Time now) {
    if (number != none) records_[number].mapped = now;
  }
  const std::vector<FaultRecord>& records() const { return records_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(records_);
  }

 private:
  const bool enabled_;
  std::vector<FaultRecord> records_;
};

}  // namespace lockstep
