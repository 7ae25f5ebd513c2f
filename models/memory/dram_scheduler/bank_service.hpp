/// Cycles for which banks worked for each tenant: from the start of a command for one of its
/// requests to the end of that command, or of its data.  Commands of a bank may overlap; a cycle
/// counts once, for the first of them.
/// Source: memory-interference.md, section 2.3 (attained service).
#pragma once

#include <algorithm>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/memory/dram/dram_banks.hpp"
#include "models/memory/dram/dram_queue.hpp"

namespace lockstep {

class BankService {
 public:
  BankService(const DramParameters& p, std::size_t tenants)
      : precharge_(p.rp.count()),
        activate_{p.rcd_read.count(), p.rcd_write.count()},
        column_{p.cl.count() + p.burst.count(), p.cwl.count() + p.burst.count()},
        busy_until_(p.banks),
        cycles_(tenants) {}

  void on_row(const DramEntry& entry, DramBanks::Command command, DramCycle now) {
    works(entry, now, command == DramBanks::precharging ? precharge_ : activate_[entry.write]);
  }
  void on_column(const DramEntry& entry, DramCycle now) { works(entry, now, column_[entry.write]); }

  /// Returns whether any bank worked since the last take().
  bool any() const { return any_; }
  /// Appends the cycles of each tenant and starts them from zero.
  void take(std::vector<std::uint64_t>& cycles) {
    cycles.insert(cycles.end(), cycles_.begin(), cycles_.end());
    std::fill(cycles_.begin(), cycles_.end(), 0);
    any_ = false;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(busy_until_, cycles_, any_);
  }

 private:
  void works(const DramEntry& entry, DramCycle now, std::int64_t cycles) {
    DramCycle& until = busy_until_[entry.bank];
    const DramCycle from = std::max(now, until), end = now + cycles;
    if (end <= from) return;
    cycles_[entry.tenant] += static_cast<std::uint64_t>(end - from);
    until = end;
    any_ = true;
  }

  const std::int64_t precharge_;
  const std::array<std::int64_t, 2> activate_, column_;  ///< service times for reads and for writes
  std::vector<DramCycle> busy_until_;                    ///< cycle up to which each bank is busy
  std::vector<std::uint64_t> cycles_;                    ///< cycles of service of each tenant
  bool any_ = false;
};

}  // namespace lockstep
