/// Chimera: each block of an SM leaves by the technique that loses least within the latency bound
/// of the urgent tenant.  It is flushed while it has done little, drained when it is nearly done,
/// and saved in between.
///
/// The SM is taken as a whole: it is free when its last block is gone.  Chimera counts a loss for a
/// draining block, which waits for slower blocks: as many instructions as it is ahead of the last
/// one. `chimera-plus` predicts the rest of a block as the dual-kernel scheme does, from its own
/// cycles per instruction where running blocks differ less than finished ones.
/// Source: 003, sections 2 and 4.2 (Chimera, Chimera+), 3.3.2 (costs); preemption.md, sections 2
/// and 7.
#include <algorithm>

#include "models/dispatch/preemption/choosing_parameters.hpp"
#include "models/dispatch/victims/block_costs.hpp"

namespace lockstep {

namespace {

struct ChimeraParameters : ChoosingParameters {
  static auto schema() { return choosing_parameters<ChimeraParameters>(); }
};

class Chimera final : public Preemption {
 public:
  Chimera(const ChimeraParameters& parameters, CpiPrediction prediction)
      : parameters_(parameters), prediction_(prediction) {}

  PreemptionSteps steps() const override {
    PreemptionSteps steps = parameters_.steps();
    steps.take->others = Technique::flush;
    return steps;
  }

  SmRelease decide(const SmStatus& sm, const VictimKernel& kernel, const PreemptionMachine& machine,
                   Time bound) const override {
    std::uint64_t behind = ~std::uint64_t{0};
    for (const BlockStatus& block : sm.blocks) behind = std::min(behind, block.work.executed.warp);
    SmRelease release;
    for (const BlockStatus& block : sm.blocks) {
      BlockCost drain =
          drain_cost(block, kernel, machine, parameters_.drain_prediction(prediction_));
      drain.overhead = block.work.executed.warp - behind;
      const SmRelease::Block& chosen = release.blocks.emplace_back(
          cheapest(block, flush_cost(block, machine),
                   save_cost(block, kernel, machine, parameters_.switch_estimate), drain, bound));
      release.latency = std::max(release.latency, chosen.latency);
      release.overhead += chosen.overhead;
    }
    return release;
  }

 private:
  const ChimeraParameters parameters_;
  const CpiPrediction prediction_;
};

template <CpiPrediction prediction>
std::unique_ptr<Preemption> make_chimera(const PolicyChoice& choice) {
  return std::make_unique<Chimera>(choice.parameters<ChimeraParameters>(), prediction);
}

}  // namespace

PreemptionRow preemption_by_chimera() {
  return {"chimera",
          "each block is flushed, saved or drained, whichever loses least within the tenant's "
          "latency_bound (003, section 2)",
          make_chimera<CpiPrediction::finished>, &schema_of<ChimeraParameters>()};
}

PreemptionRow preemption_by_chimera_plus() {
  return {"chimera-plus", "the same, with the drain estimate of dual-kernel (003, section 4.2)",
          make_chimera<CpiPrediction::steadier>, &schema_of<ChimeraParameters>()};
}

}  // namespace lockstep
