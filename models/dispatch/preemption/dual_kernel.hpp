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
        "all places that an SM is to give are chosen at once, or the next one when the last "
        "is free, within what is left of the latency_bound");
  }
};

/// Urgent blocks enter one by one: see dual_kernel.cpp.  How long a block drains is left open.
class DualKernel : public Preemption {
 public:
  explicit DualKernel(const DualKernelParameters& parameters) : parameters_(parameters) {}

  Needs needs() const override {
    return {.saves = true,
            .follows = true,
            .asks = true,
            .shares = true,
            .by_rounds = parameters_.rounds == SelectionRounds::serial,
            .idempotence = parameters_.idempotence};
  }
  Saving saving() const override { return parameters_.saving(); }
  HistoryScope history() const override { return parameters_.history; }
  Time drain_limit() const override { return parameters_.drain_limit; }
  Placement placement() const override { return Placement::aligned; }
  SmRelease decide(const SmStatus& sm, const VictimKernel& kernel, const PreemptionMachine& machine,
                   Time bound) const override;

 private:
  virtual BlockCost drain(const BlockStatus& block, const VictimKernel& kernel,
                          const PreemptionMachine& machine) const = 0;

 protected:
  const DualKernelParameters parameters_;
};

}  // namespace lockstep
