/// Levels of urgency, one strictly before the other, each with an order of its own.
///
/// A lower level takes the command slots that no request above can use, but not in banks for which
/// one above waits: it neither opens or closes their rows nor delays it.
/// Source: memory-interference.md, section 5.3.5 (AMB-65), for MeDiC's two queues and MASK's three.
#pragma once

#include <vector>

#include "models/memory/dram_scheduler/first_ready.hpp"

namespace lockstep {

class StrictLevels {
 public:
  /// One age limit for each level.
  StrictLevels(const DramParameters& dram, const std::vector<Cycles>& age_limits)
      : dual_bus_(dram.dual_command_bus) {
    for (const Cycles limit : age_limits)
      levels_.emplace_back(limit, static_cast<unsigned>(levels_.size()));
  }

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) {
    DramChoice choice;
    std::uint64_t above = 0;  // banks for which requests of higher levels wait
    for (unsigned level = 0; level < levels_.size(); ++level) {
      const std::uint64_t active = queue.active_banks(level);
      const DramChoice one = levels_[level].choose(queue, banks, active & ~above, now);
      above |= active;
      const bool free = choice.column == DramChoice::none && choice.row == DramChoice::none;
      if (free || (dual_bus_ && choice.column == DramChoice::none)) choice.column = one.column;
      if (free || (dual_bus_ && choice.row == DramChoice::none)) choice.row = one.row;
      choice.wake = std::min(choice.wake, one.wake);
    }
    return choice;
  }

 private:
  const bool dual_bus_;
  std::vector<FirstReady> levels_;
};

}  // namespace lockstep
