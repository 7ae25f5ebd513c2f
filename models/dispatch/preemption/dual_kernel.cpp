/// Dual kernel: blocks of the urgent grid enter an SM one by one.  Each enters as soon as the few
/// blocks in its place have left, while other blocks of the less urgent grid run on.
///
/// Each block leaves by the technique that loses least within the latency bound, with a drain
/// estimate that follows the kernel's behaviour; victim_selection.hpp chooses the blocks.  Other
/// blocks run to their end, and no more blocks of their grid start there while the urgent grid is
/// present.
/// Source: 003, sections 3.1 to 3.3, Figures 3.1 to 3.4; preemption.md, sections 6 and 7.
///
/// Simplified: the time that the dispatcher needs to decide is neglected.
#include "models/dispatch/preemption/dual_kernel.hpp"

namespace lockstep {

SmRelease DualKernel::decide(const SmStatus& sm, const VictimKernel& kernel,
                             const PreemptionMachine& machine, Time bound) const {
  SmRelease release;
  for (const BlockStatus& block : sm.blocks)
    release.blocks.push_back(
        cheapest(block, flush_cost(block, machine),
                 save_cost(block, kernel, machine, parameters_.switch_estimate),
                 drain(block, kernel, machine), bound));
  return release;
}

PreemptionRow preemption_with_dual_kernel() {
  return {"dual-kernel",
          "urgent blocks enter one by one where the fewest instructions are lost, beside blocks "
          "that run on (003, section 3)",
          [](const PolicyChoice& choice) -> std::unique_ptr<Preemption> {
            return std::make_unique<DualKernel>(choice.parameters<DualKernelParameters>());
          },
          &schema_of<DualKernelParameters>()};
}

}  // namespace lockstep
