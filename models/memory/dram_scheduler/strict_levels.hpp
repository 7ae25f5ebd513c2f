/// Levels of urgency, each strictly before the next and with an order of its own.
///
/// A lower level takes the command slots that no request above can use, but not in banks for which
/// a request above waits: it neither opens or closes rows there nor delays that request.  With
/// `rows_stay` a lower level may finish its requests for the open row of such a bank, while no
/// request above wants that row: row hits come before levels, so that rows are not opened twice.
/// Source: memory-interference.md, section 5.3.5 (AMB-65), for MeDiC's two queues and MASK's three.
#pragma once

#include <bit>
#include <vector>

#include "models/memory/dram_scheduler/first_ready.hpp"

namespace lockstep {

/// Adds commands of a lower level to the choice of higher levels, where both fit.
inline void add_lower(DramChoice& choice, const DramChoice& lower, bool dual_command_bus) {
  const bool free = choice.column == DramChoice::none && choice.row == DramChoice::none;
  if (free || (dual_command_bus && choice.column == DramChoice::none)) choice.column = lower.column;
  if (free || (dual_command_bus && choice.row == DramChoice::none)) choice.row = lower.row;
  choice.wake = std::min(choice.wake, lower.wake);
}

class StrictLevels {
 public:
  /// Makes the order of levels from `first` on, up to the one before `end`.
  StrictLevels(const DramParameters& dram, unsigned first, unsigned end, Cycles age_limit,
               bool rows_stay)
      : dual_bus_(dram.dual_command_bus), rows_stay_(rows_stay), first_(first), end_(end) {
    for (unsigned level = first; level < end; ++level) levels_.emplace_back(age_limit, level);
  }

  /// Chooses a command, but not in the banks `taken`.
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now,
                    std::uint64_t taken = 0) {
    unsigned waiting = 0, upper = end_, lower = first_;  // levels with requests
    for (unsigned level = end_; level-- > first_;) {
      if (queue.active_banks(level) == 0) continue;
      waiting |= 1u << level;
      lower = std::max(lower, level);
      upper = level;
    }
    if (upper == lower)
      return of(upper).choose(queue, banks, queue.active_banks(upper) & ~taken, now);
    return choose_of_several(queue, banks, waiting, taken, now);
  }

 private:
  FirstReady& of(unsigned level) { return levels_[level - first_]; }

  /// `above`: banks for which requests of higher levels wait.
  DramChoice choose_of_several(const DramQueue& queue, const DramBanks& banks, unsigned waiting,
                               std::uint64_t above, DramCycle now) {
    DramChoice choice;
    for (; waiting != 0; waiting &= waiting - 1) {
      const auto level = static_cast<unsigned>(std::countr_zero(waiting));
      std::uint64_t active = queue.active_banks(level);
      if (rows_stay_) active &= ~hits_below_only(queue, level);
      add_lower(choice, of(level).choose(queue, banks, active & ~above, now), dual_bus_);
      above |= active;
    }
    return choice;
  }

  /// Returns the banks whose open row serves lower levels but not this one.
  std::uint64_t hits_below_only(const DramQueue& queue, unsigned level) const {
    std::uint64_t banks = 0;
    for (std::uint64_t rest = queue.active_banks(level); rest != 0; rest &= rest - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (queue.oldest_hit(bank, level) != DramEntry::none) continue;
      for (unsigned below = level + 1; below < end_; ++below)
        if (queue.oldest_hit(bank, below) != DramEntry::none) {
          banks |= std::uint64_t{1} << bank;
          break;
        }
    }
    return banks;
  }

  const bool dual_bus_, rows_stay_;
  const unsigned first_, end_;
  std::vector<FirstReady> levels_;
};

}  // namespace lockstep
