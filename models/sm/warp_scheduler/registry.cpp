#include "models/sm/warp_scheduler/registry.hpp"

#include "models/sm/warp_scheduler/warp_scheduler.hpp"

namespace lockstep {

namespace {

using Make = WarpScheduler (*)(const PolicyChoice&);

template <class Policy>
WarpScheduler make(const PolicyChoice&) {
  return Policy{};
}
WarpScheduler make_two_level(const PolicyChoice& choice) {
  return TwoLevel{choice.parameters<TwoLevelParameters>()};
}

const PolicyRegistry<Make>& registry() {
  static const PolicyRegistry<Make> rows{
      {"lrr", "loose round robin", make<LooseRoundRobin>},
      {"gto", "greedy, then the oldest warp (Rogers et al., MICRO 2012)", make<GreedyThenOldest>},
      {"two-level", "a small active set before the rest (Narasiman et al., MICRO 2011)",
       make_two_level, &schema_of<TwoLevelParameters>()},
  };
  return rows;
}

}  // namespace

const PolicyList& warp_scheduler_policies() {
  return registry().list();
}

WarpScheduler make_warp_scheduler(const PolicyChoice& choice) {
  return registry().factory(choice)(choice);
}

}  // namespace lockstep
