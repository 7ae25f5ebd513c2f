/// Planned: a dual kernel whose techniques a file says, block by block.  Where the file says
/// nothing, the dual kernel's estimates decide.
///
/// It is for experiments that run each candidate from a checkpoint before a request: an oracle that
/// knows what blocks take because they have been run.
/// Source: 003, section 4 (oracle); our choice (the file).
///
/// Simplified: places are chosen by the estimates of the planned techniques.
#include "models/dispatch/preemption/dual_kernel.hpp"

namespace lockstep {

namespace {

struct PlannedParameters : DualKernelParameters {
  std::string plan;
  static auto schema() {
    using P = PlannedParameters;
    return dual_kernel_parameters<P>().field(
        "plan", &P::plan, "",
        "file with the techniques of blocks: a list of {urgent: KERNEL, others: TECHNIQUE, blocks: "
        "[[KERNEL, BLOCK, TECHNIQUE], ...]}");
  }
};

class Planned final : public DualKernel {
 public:
  explicit Planned(const PlannedParameters& parameters) : DualKernel(parameters) {}

  PreemptionSteps steps() const override {
    PreemptionSteps steps = DualKernel::steps();
    steps.ask->by_plan = true;
    return steps;
  }

  SmRelease decide(const SmStatus& sm, const VictimKernel& kernel, const PreemptionMachine& machine,
                   Time bound) const override {
    SmRelease release = DualKernel::decide(sm, kernel, machine, bound);
    if (kernel.plan == nullptr) return release;
    for (SmRelease::Block& block : release.blocks)
      if (const auto technique = kernel.plan->of(sm.grid, block.command.block))
        block = planned(*technique, block.before, kernel, machine, bound);
    return release;
  }

 private:
  /// Returns the command for a block, with its estimate.  A block that cannot be flushed is saved;
  /// a drain of which nothing is known counts as one that takes the bound.
  SmRelease::Block planned(Technique technique, const BlockStatus& block,
                           const VictimKernel& kernel, const PreemptionMachine& machine,
                           Time bound) const {
    BlockCost cost;
    if (technique == Technique::flush) cost = flush_cost(block, machine);
    if (technique == Technique::drain) {
      cost = drain(block, kernel, machine);
      if (!cost.possible()) cost = {bound == Time::never() ? Time::zero() : bound, 0};
    }
    if (!cost.possible()) {
      technique = Technique::save;
      cost = save_cost(block, kernel, machine, parameters_.switch_estimate);
    }
    return {{block.block, technique, {}}, cost.latency, cost.overhead, block, cost.own_pace};
  }
};

}  // namespace

PreemptionRow preemption_as_planned() {
  return {"planned", "dual-kernel by techniques of blocks that a file says, for experiments",
          [](const PolicyChoice& choice) -> std::unique_ptr<Preemption> {
            return std::make_unique<Planned>(choice.parameters<PlannedParameters>());
          },
          &schema_of<PlannedParameters>()};
}

}  // namespace lockstep
