/// Exclusive sharing: one kernel at a time on the whole GPU, the first that arrived of the tenant
/// with the highest priority.
///
/// The next kernel starts when every block of the one before it is done; this is how a GPU without
/// concurrent kernels treats several applications. A kernel that may overlap with the one before it
/// in its stream, and is next, starts when all blocks of the kernel before it have been sent. With
/// a `preemption` a kernel starts on SMs that it takes from less urgent kernels. Source: 003,
/// section 1 (the baseline that preemption improves on).
///
/// Simplified: no context switch between tenants is charged.
#include "models/dispatch/sharing/exclusive.hpp"

#include <algorithm>

namespace lockstep {

std::optional<std::size_t> Exclusive::choose(std::span<const GridView> grids, SmId) const {
  std::optional<std::size_t> first;
  bool any_runs = false;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const GridView& grid = grids[i];
    if (!grid.ready) continue;
    const bool waits = grid.blocks_waiting > 0, runs = grid.blocks_running > 0;
    if (waits && runs) return i;
    any_runs |= runs;
    if (waits && (!first || grid.priority > grids[*first].priority)) first = i;
  }
  if (!first || !any_runs) return first;
  const bool may_overlap = std::any_of(grids.begin(), grids.end(), [&](const GridView& grid) {
    return grid.blocks_running > 0 && grids[*first].primary == grid.grid.value() + 1;
  });
  return may_overlap ? first : std::nullopt;
}

SharingRow exclusive_sharing() {
  return {"exclusive", "one kernel at a time, by priority and in order of arrival",
          [](const PolicyChoice&, const SharingSetup& setup) -> std::unique_ptr<Sharing> {
            return std::make_unique<Exclusive>(setup.sm_count);
          },
          nullptr,
          [](const PolicyChoice&) {
            return PolicyTraits{{lets_sms_be_taken}, {}};
          }};
}

}  // namespace lockstep
