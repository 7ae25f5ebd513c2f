#pragma once

#include "core/parameters/parameters.hpp"
#include "models/dispatch/preemption/preemption.hpp"
#include "models/dispatch/victims/block_costs.hpp"

namespace lockstep {

/// Parameters of the policies that choose a technique for each block: the way of saving, and the
/// longest drain.
struct ChoosingParameters {
  ContextKind context;
  StopPlaces points;
  ContextTraffic traffic;
  Time drain_limit;
  IdempotenceCheck idempotence;
  SwitchEstimate switch_estimate;
  DrainEstimate drain_estimate;
  std::uint32_t drain_quantile;
  BeyondMean beyond_mean;
  HistoryScope history;

  /// Returns the steps of a technique that has all three at hand.
  PreemptionSteps steps() const {
    return {.take = PreemptionSteps::Take{.drain_limit = drain_limit},
            .ask = PreemptionSteps::Ask{.history = history,
                                        .by_lengths = drain_estimate == DrainEstimate::quantile},
            .flush = PreemptionSteps::Flush{.idempotence = idempotence},
            .save = PreemptionSteps::Save{{context, points, traffic}}};
  }
  /// Returns the way of estimating drains, with this estimate of the pace.
  DrainPrediction drain_prediction(CpiPrediction pace) const {
    return {pace, drain_estimate, beyond_mean, drain_quantile};
  }
};

/// Schema of the fields at the head of P, which derives from these parameters.
template <class P>
ParametersOf<P> choosing_parameters() {
  using namespace literals;
  return parameters<P>()
      .field("context", &P::context, ContextKind::occupied, context_kinds(), context_kinds_doc)
      .field("points", &P::points, StopPlaces::any, stop_places(), stop_places_doc)
      .field("traffic", &P::traffic, ContextTraffic::real, context_traffics(), context_traffic_doc)
      .field("drain_limit", &P::drain_limit, 0_us, range(0_us, 1'000'000_us),
             "time after which a draining block is saved, since it may wait for one that was "
             "flushed; 0: ten times the expected time, or the latency_bound if that is longer; 1ms "
             "without a bound")
      .field("idempotence", &P::idempotence, IdempotenceCheck::marks, idempotence_checks(),
             idempotence_check_doc)
      .field("switch_estimate", &P::switch_estimate, SwitchEstimate::share,
             choice({"share", "measured"}),
             "expected time of a switch: the context over the SM's share of the peak bandwidth "
             "(003, section 3.3.2), or the mean time of earlier switches of the kernel's blocks")
      .field(
          "drain_estimate", &P::drain_estimate, DrainEstimate::mean, choice({"mean", "quantile"}),
          "expected instructions of a block: the mean of finished blocks (003, section 3.3.2), or "
          "a quantile of the finished blocks that are at least as long as what the block has "
          "executed; if none is, the block is not drained")
      .field(
          "drain_quantile", &P::drain_quantile, 50, range(1, 100),
          "the quantile, in percent of these finished blocks: 50 is their median, 100 the longest",
          "percent")
      .only_if("drain_quantile", "with drain_estimate: quantile",
               [](const P& p) { return p.drain_estimate == DrainEstimate::quantile; })
      .field("beyond_mean", &P::beyond_mean, BeyondMean::done, choice({"done", "unknown"}),
             "a block that has executed as many instructions as the mean finished block is about "
             "to end, or is never drained, since its remaining time is not known")
      .only_if("beyond_mean", "with drain_estimate: mean",
               [](const P& p) { return p.drain_estimate == DrainEstimate::mean; })
      .field("history", &P::history, HistoryScope::launch, choice({"launch", "kernel"}),
             "finished blocks from which the length and speed of a block are estimated: those of "
             "its launch (before the first of them no block is drained), or those of all launches "
             "of its kernel");
}

}  // namespace lockstep
