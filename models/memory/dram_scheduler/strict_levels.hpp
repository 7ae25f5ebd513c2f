/// Levels of urgency, one strictly before the other, each with an order of its own.
///
/// A lower level takes the command slots that no request above can use, but not in banks for which
/// one above waits: it neither opens or closes their rows nor delays it.  With `rows_stay` it may
/// finish there what the open row holds for it, while none above wants that row: first ready comes
/// before the levels, so that their rows are not opened twice.
/// Source: memory-interference.md, section 5.3.5 (AMB-65), for MeDiC's two queues and MASK's three.
#pragma once

#include <bit>
#include <vector>

#include "models/memory/dram_scheduler/first_ready.hpp"

namespace lockstep {

class StrictLevels {
 public:
  /// One age limit for each level.
  StrictLevels(const DramParameters& dram, const std::vector<Cycles>& age_limits,
               bool rows_stay = false)
      : dual_bus_(dram.dual_command_bus), rows_stay_(rows_stay) {
    for (const Cycles limit : age_limits)
      levels_.emplace_back(limit, static_cast<unsigned>(levels_.size()));
    count_ = static_cast<unsigned>(levels_.size());
  }

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) {
    const unsigned count = count_;
    unsigned waiting = 0, first = count, last = 0;  // levels with requests
    for (unsigned level = count; level-- > 0;) {
      if (queue.active_banks(level) == 0) continue;
      waiting |= 1u << level;
      last = std::max(last, level);
      first = level;
    }
    if (first == last) return levels_[first].choose(queue, banks, queue.active_banks(first), now);
    return choose_of_several(queue, banks, waiting, now);
  }

 private:
  DramChoice choose_of_several(const DramQueue& queue, const DramBanks& banks, unsigned waiting,
                               DramCycle now) {
    DramChoice choice;
    std::uint64_t above = 0;  // banks for which requests of higher levels wait
    for (; waiting != 0; waiting &= waiting - 1) {
      const auto level = static_cast<unsigned>(std::countr_zero(waiting));
      std::uint64_t active = queue.active_banks(level);
      if (rows_stay_) active &= ~hits_below_only(queue, level);
      const DramChoice one = levels_[level].choose(queue, banks, active & ~above, now);
      above |= active;
      const bool free = choice.column == DramChoice::none && choice.row == DramChoice::none;
      if (free || (dual_bus_ && choice.column == DramChoice::none)) choice.column = one.column;
      if (free || (dual_bus_ && choice.row == DramChoice::none)) choice.row = one.row;
      choice.wake = std::min(choice.wake, one.wake);
    }
    return choice;
  }

  /// Banks whose open row serves lower levels, and not this one.
  std::uint64_t hits_below_only(const DramQueue& queue, unsigned level) const {
    std::uint64_t banks = 0;
    for (std::uint64_t rest = queue.active_banks(level); rest != 0; rest &= rest - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (queue.oldest_hit(bank, level) != DramEntry::none) continue;
      for (unsigned below = level + 1; below < levels_.size(); ++below)
        if (queue.oldest_hit(bank, below) != DramEntry::none) {
          banks |= std::uint64_t{1} << bank;
          break;
        }
    }
    return banks;
  }

  const bool dual_bus_, rows_stay_;
  unsigned count_ = 0;
  std::vector<FirstReady> levels_;
};

}  // namespace lockstep
