#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/driver/host_cycle.hpp"
#include "models/host_link/transfer.hpp"
#include "models/noc/address.hpp"

namespace lockstep {

/// Reads the foreign pages of a fragmented GPU memory when all tenants have left, for checking.
class ForeignInspection {
 public:
  bool has_begun() const { return begun_; }
  /// Begins the inspection.  `pages`: frames of the pages, by their numbers; at least one.
  void begin(std::span<const Frame> pages, const HostCycle& cycle);
  std::span<std::byte> at(std::uint64_t offset, std::uint64_t bytes) {
    return std::span(bytes_).subspan(offset, bytes);
  }
  std::size_t pages() const;
  /// Returns the first page that has changed since the run began.
  std::optional<std::uint64_t> damaged() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(begun_, bytes_);
  }

 private:
  bool begun_ = false;
  std::vector<std::byte> bytes_;
};

}  // namespace lockstep
