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
  // For what is rare, where the code need not stand in each place.
  const auto issuable_again = [this]() __attribute__((noinline)) {
    return issuable();
  };
  std::uint64_t candidates = issuable();
  const bool could_issue = candidates != 0;
  // The schedulers take turns at the first place, so that none is always first at units that they
  // share.
  const unsigned last = units.schedulers() - 1;
  const unsigned first = static_cast<unsigned>(now.value());
  std::uint64_t open = hot_.gate.open();
  unsigned issued = 0;
  for (unsigned turn = 0; turn <= last && candidates != 0; ++turn) {
    const unsigned scheduler = (turn + first) & last;
    const std::uint64_t own = units.warps_of_scheduler(scheduler);
    if ((candidates & own) == 0) continue;
    issue_chosen(scheduler, candidates & own);
    issued |= 1u << scheduler;
    if (units.wide()) [[unlikely]] {
      for (unsigned more = 1; more < constants_.parameters.issue_width; ++more)
        if (const std::uint64_t left = issuable_again() & own; left != 0)
          issue_chosen(scheduler, left);
    }
    candidates &= ~own;
    if (units.shared()) [[unlikely]] {
      candidates = issuable_again();
    } else if (open != hot_.gate.open()) {
      open = hot_.gate.open();
      candidates &= ~ready(memory_unit);
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
