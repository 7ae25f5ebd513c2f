#include "models/sm/warp_scheduler/registry.hpp"

#include "models/sm/warp_scheduler/warp_scheduler.hpp"

namespace lockstep {

namespace {

using MakeScheduler = WarpScheduler (*)(const PolicyChoice&, unsigned schedulers);

WarpScheduler make_lrr(const PolicyChoice&, unsigned /*schedulers*/) {
  return LooseRoundRobin{};
}
WarpScheduler make_gto(const PolicyChoice&, unsigned schedulers) {
  return GreedyThenOldest{schedulers};
}
WarpScheduler make_two_level(const PolicyChoice& choice, unsigned /*schedulers*/) {
  return TwoLevel{choice.parameters<TwoLevelParameters>()};
}

const PolicyRegistry<MakeScheduler>& schedulers() {
  static const PolicyRegistry<MakeScheduler> rows{
      {"lrr", "loose round robin", make_lrr},
      {"gto", "greedy, then the oldest warp (Rogers et al., MICRO 2012)", make_gto},
      {"two-level", "a small active set before the rest (Narasiman et al., MICRO 2011)",
       make_two_level, &schema_of<TwoLevelParameters>()},
  };
  return rows;
}

}  // namespace

const PolicyList& warp_scheduler_policies() {
  return schedulers().list();
}

WarpScheduler make_warp_scheduler(const PolicyChoice& choice, unsigned schedulers_of_sm) {
  return schedulers().factory(choice)(choice, schedulers_of_sm);
}

}  // namespace lockstep
