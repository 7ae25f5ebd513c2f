/// Oracle: a dual kernel that knows the remaining time of each block from an earlier run of the
/// same scenario without preemption.
///
/// The remaining time is the block's duration in that run minus its time on chip in this one.
/// Source: 003, section 4.1 (the oracle of Figures 4.1 and 4.5); preemption.md, section 7.4.
///
/// Simplified: a tenant that starts again launches the same grids in each round.
#include "models/dispatch/preemption/dual_kernel.hpp"

namespace lockstep {

namespace {

struct OracleParameters : DualKernelParameters {
  std::string profile;
  static auto schema() {
    using P = OracleParameters;
    return dual_kernel_parameters<P>().field(
        "profile", &P::profile, "",
        "output of the same scenario with preemption: none and simulation.record_blocks");
  }
};

class Oracle final : public DualKernel {
 public:
  explicit Oracle(const OracleParameters& parameters) : DualKernel(parameters) {}

  PreemptionSteps steps() const override {
    PreemptionSteps steps = DualKernel::steps();
    steps.ask->by_profile = true;
    return steps;
  }

 private:
  BlockCost drain(const BlockStatus& block, const VictimKernel& kernel,
                  const PreemptionMachine& machine) const override {
    return known_drain_cost(block, kernel, machine);
  }
};

}  // namespace

PreemptionRow preemption_by_oracle() {
  return {"oracle",
          "dual-kernel that knows how long blocks run from an earlier run (003, section 4)",
          [](const PolicyChoice& choice) -> std::unique_ptr<Preemption> {
            return std::make_unique<Oracle>(choice.parameters<OracleParameters>());
          },
          &schema_of<OracleParameters>()};
}

}  // namespace lockstep
