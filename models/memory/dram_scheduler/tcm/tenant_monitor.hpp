/// Use of a channel by each tenant: its requests, its bandwidth, the row hits that it would have
/// alone, and its busy banks.
/// Source: memory-interference.md, section 2.4 (shadow row-buffer index, bank-level parallelism).
///
/// Simplified: bank-level parallelism is summed up exactly instead of sampled, up to the last
/// change of the banks that a tenant waits for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/memory/dram/dram_queue.hpp"

namespace lockstep {

/// Counts of a tenant.
struct TenantUse {
  static constexpr std::size_t words = 5;
  std::uint64_t requests = 0;
  std::uint64_t columns = 0;
  std::uint64_t shadow_hits = 0;
  std::uint64_t bank_cycles = 0;     ///< banks with requests of the tenant, summed over cycles
  std::uint64_t bank_cycles_of = 0;  ///< busy banks, summed over the cycles in which there were any

  void add(std::span<const std::uint64_t, words> more);
  void append_to(std::vector<std::uint64_t>& words) const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(requests, columns, shadow_hits, bank_cycles, bank_cycles_of);
  }
};

class TenantMonitor {
 public:
  TenantMonitor(std::uint32_t banks, std::size_t tenants)
      : banks_(banks), uses_(tenants), states_(tenants), of_bank_(banks * tenants) {}

  void on_arrival(const DramEntry& entry, DramCycle now);
  void on_column(const DramEntry& entry) {
    ++uses_[entry.tenant].columns;
    any_ = true;
  }
  void on_served(const DramEntry& entry, DramCycle now);

  /// Returns whether anything was counted since the last take().
  bool any() const { return any_; }
  /// Appends TenantUse::words of each tenant and starts the counts from zero.
  void take(std::vector<std::uint64_t>& words);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(uses_, states_, of_bank_, any_);
  }

 private:
  struct State {
    DramCycle since;  ///< cycle up to which banks are counted
    std::uint32_t busy_banks = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(since, busy_banks);
    }
  };
  struct OfBank {
    std::uint32_t row = ~std::uint32_t{0};  ///< row of the tenant's last request
    std::uint32_t waiting = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(row, waiting);
    }
  };

  OfBank& of_bank(const DramEntry& entry) {
    return of_bank_[std::size_t{entry.tenant} * banks_ + entry.bank];
  }
  void count_banks(std::uint16_t tenant, DramCycle now);

  const std::uint32_t banks_;
  std::vector<TenantUse> uses_;
  std::vector<State> states_;
  std::vector<OfBank> of_bank_;  ///< state by tenant, then bank
  bool any_ = false;
};

}  // namespace lockstep
