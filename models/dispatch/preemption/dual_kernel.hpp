#pragma once

#include "models/dispatch/preemption/choosing_parameters.hpp"
#include "models/dispatch/victims/block_costs.hpp"
#include "models/dispatch/victims/victim_selection.hpp"

namespace lockstep {

struct DualKernelParameters : ChoosingParameters {
  SelectionRounds rounds;
  static auto schema() { return dual_kernel_parameters<DualKernelParameters>(); }

 protected:
  template <class P>
  static ParametersOf<P> dual_kernel_parameters() {
    return choosing_parameters<P>().field(
        "rounds", &P::rounds, SelectionRounds::burst, choice({"burst", "serial"}),
        "burst: all places that an SM is to give are chosen at once; serial: the next one is "
        "chosen when the last is free, within the rest of the latency_bound");
  }
};

/// Urgent blocks enter one by one: see dual_kernel.cpp.
class DualKernel : public Preemption {
 public:
  explicit DualKernel(const DualKernelParameters& parameters) : parameters_(parameters) {}

  PreemptionSteps steps() const override {
    PreemptionSteps steps = parameters_.steps();
    steps.share = PreemptionSteps::Share{parameters_.rounds};
    steps.placement = Placement::aligned;
    return steps;
  }
  SmRelease decide(const SmStatus& sm, const VictimKernel& kernel, const PreemptionMachine& machine,
                   Time bound) const override;

 protected:
  /// Returns the cost of draining a block, by an estimate unless a derived class knows it.
  virtual BlockCost drain(const BlockStatus& block, const VictimKernel& kernel,
                          const PreemptionMachine& machine) const {
    return drain_cost(block, kernel, machine,
                      parameters_.drain_prediction(CpiPrediction::steadier));
  }

  const DualKernelParameters parameters_;
};

}  // namespace lockstep
