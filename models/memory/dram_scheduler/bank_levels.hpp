/// Levels of urgency that decide which request a bank serves next.  Among the banks, a ready one
/// goes first, then the one with the oldest request, whatever its level.
///
/// So an urgent request does not turn the bus around between requests of other banks, as it does
/// with StrictLevels.  With `rows_stay` a bank first finishes the requests for its open row.
/// Source: 004, sections 4.3.4 and 6.4.4, as a scheduler that picks a request for each free bank:
/// GPGPU-Sim 3.2.
#pragma once

#include "models/memory/dram_scheduler/first_ready.hpp"

namespace lockstep {

class BankLevels {
 public:
  /// Makes the order of levels from `first` on, up to the one before `end`.
  BankLevels(unsigned first, unsigned end, Cycles age_limit, bool rows_stay)
      : first_(first), end_(end), rows_stay_(rows_stay), requests_(age_limit) {}

  /// Chooses a command, but not in the banks `taken`.
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now,
                    std::uint64_t taken = 0) {
    std::uint64_t all = 0;
    for (unsigned level = first_; level < end_; ++level) all |= queue.active_banks(level);
    return requests_.choose(queue, banks, all, all & ~taken, now,
                            [&](std::uint32_t bank) { return level_of(queue, bank); });
  }

 private:
  /// Returns the level that a bank with requests serves.
  unsigned level_of(const DramQueue& queue, std::uint32_t bank) const {
    unsigned most_urgent = first_;
    while (((queue.active_banks(most_urgent) >> bank) & 1) == 0) ++most_urgent;
    for (unsigned level = most_urgent; rows_stay_ && level < end_; ++level)
      if (queue.oldest_hit(bank, level) != DramEntry::none) return level;
    return most_urgent;
  }

  const unsigned first_, end_;
  const bool rows_stay_;
  FirstReady requests_;
};

}  // namespace lockstep
