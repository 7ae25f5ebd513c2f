/// Choice of the warp that issues, once per scheduler and cycle.
#pragma once

#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

template <class Policy, class Issue>
bool FrontEnd::issue_cycle(Policy& policy, SmCycle now, Issue&& issue) {
  const ExecutionUnits& units = hot_.units;
  const auto issue_chosen = [&](unsigned scheduler, std::uint64_t candidates) {
    const WarpSlot slot(static_cast<std::uint16_t>(policy.choose(scheduler, candidates)));
    try {
      issue(slot);
    } catch (const Mistake& mistake) {
      halt(slot, mistake, now);
    }
  };
  // The schedulers take turns at the first place, so that none is always first at units that they
  // share.
  const unsigned last = units.schedulers() - 1;
  const unsigned first = static_cast<unsigned>(now.value()) & last;
  const auto turns_of = [&](std::uint64_t warps_ready) {
    return units.schedulers_of(std::rotr(warps_ready, static_cast<int>(first)));
  };
  std::uint64_t candidates = issuable();
  const bool could_issue = candidates != 0;
  unsigned issued = 0;
  for (unsigned turns = could_issue ? turns_of(candidates) : 0; turns != 0;) {
    const auto turn = static_cast<unsigned>(std::countr_zero(turns));
    const unsigned scheduler = (turn + first) & last;
    const std::uint64_t own = units.warps_of(1u << scheduler), open = hot_.gate.open();
    issue_chosen(scheduler, candidates & own);
    issued |= 1u << scheduler;
    if (units.wide()) [[unlikely]] {
      for (unsigned more = 1; more < constants_.parameters.issue_width; ++more)
        if (const std::uint64_t left = issuable() & own; left != 0) issue_chosen(scheduler, left);
    }
    turns &= turns - 1;
    if (units.shared()) [[unlikely]] {
      candidates = issuable();
      turns = turns_of(candidates) & (~1u << turn);
    } else if (open != hot_.gate.open()) {
      candidates &= ~ready(memory_unit);
      turns &= turns_of(candidates);
    }
  }
  // Nothing changes before the next call of account_stalls(), which charges this cycle, too.
  if (!could_issue) return false;
  if (const unsigned stalled = units.all_schedulers() & ~issued; stalled != 0)
    count_stalled(stalled, 1);
  hot_.accounted = now;
  sleep_until(now + 1);
  return true;
}

}  // namespace lockstep
