/// Dual kernel: blocks of the urgent grid enter an SM one by one, each as soon as those few blocks
/// are gone that stand in its place, while the other grid's blocks beside them run on.
///
/// Each block has the technique that loses least within the latency bound, with a drain estimate
/// that follows the kernel's behaviour; which of them leave: victim_selection.hpp.  Blocks that are
/// not chosen run to their end, and no others of their grid start there while the urgent grid is
/// present.
/// Source: 003, sections 3.1 to 3.3, Figures 3.1 to 3.4; preemption.md, sections 6 and 7.
///
/// Simplified: all places that an SM is to give are chosen in one round of questions (rounds:
/// burst); the time that the dispatcher needs to decide is neglected.
#include <algorithm>

#include "core/parameters/parameters.hpp"
#include "models/dispatch/preemption/block_costs.hpp"

namespace lockstep {

namespace {

struct DualKernelParameters {
  Placement placement;
  ContextKind context;
  ContextTraffic traffic;
  static auto schema() {
    using P = DualKernelParameters;
    return parameters<P>()
        .field("placement", &P::placement, Placement::aligned, choice({"aligned", "packed"}),
               "blocks stand at multiples of what their kernel's blocks need, or in the first gap "
               "that is large enough")
        .field("context", &P::context, ContextKind::occupied, context_kinds(), context_kinds_doc)
        .field("traffic", &P::traffic, ContextTraffic::real, context_traffics(),
               context_traffic_doc);
  }
};

class DualKernel final : public Preemption {
 public:
  explicit DualKernel(const DualKernelParameters& parameters) : parameters_(parameters) {}

  Needs needs() const override {
    return {.saves = true, .follows = true, .asks = true, .shares = true};
  }
  Saving saving() const override {
    return {parameters_.context, StopPlaces::any, parameters_.traffic};
  }
  std::optional<Placement> placement() const override { return parameters_.placement; }

  SmRelease decide(const SmStatus& sm, const VictimKernel& kernel, const PreemptionMachine& machine,
                   Time bound) const override {
    SmRelease release;
    for (const BlockStatus& block : sm.blocks)
      release.blocks.push_back(cheapest(block, flush_cost(block), save_cost(block, kernel, machine),
                                        drain_cost(block, kernel, machine, CpiPrediction::steadier),
                                        bound));
    return release;
  }

 private:
  const DualKernelParameters parameters_;
};

}  // namespace

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
