/// Two levels of urgency that decide which request a bank serves next; of the banks, the first
/// ready goes, then the one with the oldest request, whatever its level.
///
/// So one that is urgent does not turn the bus around between those of other banks, as it does with
/// StrictLevels.  With `rows_stay` a bank first finishes what its open row holds.
/// Source: 004, section 4.3.4, as a scheduler that picks a request for each free bank:
/// GPGPU-Sim 3.2.
#pragma once

#include "models/memory/dram_scheduler/first_ready.hpp"

namespace lockstep {

class BankLevels {
 public:
  BankLevels(Cycles age_limit, bool rows_stay) : requests_(age_limit), rows_stay_(rows_stay) {}

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) {
    const std::uint64_t urgent = queue.active_banks(0), all = urgent | queue.active_banks(1);
    return requests_.choose(queue, banks, all, all, now, [&](std::uint32_t bank) {
      if (((urgent >> bank) & 1) == 0) return 1u;
      const bool row_is_for_others = queue.oldest_hit(bank, 0) == DramEntry::none &&
                                     queue.oldest_hit(bank, 1) != DramEntry::none;
      return rows_stay_ && row_is_for_others ? 1u : 0u;
    });
  }

 private:
  FirstReady requests_;
  const bool rows_stay_;
};

}  // namespace lockstep
