#include "models/sm/warp_scheduler/registry.hpp"

#include "models/sm/warp_scheduler/warp_scheduler.hpp"

namespace lockstep {

namespace {

using MakeScheduler = WarpScheduler (*)(const PolicyChoice&);

template <class Policy>
WarpScheduler make(const PolicyChoice&) {
  return Policy{};
}
WarpScheduler make_two_level(const PolicyChoice& choice) {
  return TwoLevel{choice.parameters<TwoLevelParameters>()};
}

const PolicyRegistry<MakeScheduler>& schedulers() {
  static const PolicyRegistry<MakeScheduler> rows{
      {"lrr", "loose round robin", make<LooseRoundRobin>},
      {"gto", "greedy, then the oldest warp (Rogers et al., MICRO 2012)", make<GreedyThenOldest>},
      {"two-level", "a small active set before the rest (Narasiman et al., MICRO 2011)",
       make_two_level, &schema_of<TwoLevelParameters>()},
  };
  return rows;
}

}  // namespace

const PolicyList& warp_scheduler_policies() {
  return schedulers().list();
}

WarpScheduler make_warp_scheduler(const PolicyChoice& choice) {
  return schedulers().factory(choice)(choice);
}

}  // namespace lockstep
