/// The parts of an SM that blocks touch when they come and go; nothing issues.
#pragma once

#include "models/sm/exception_scheme/faultable_accesses.hpp"
#include "models/sm/turnover/block_turnover.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep {

struct TurnoverWorld {
  explicit TurnoverWorld(void (*change)(SmSetup&), const std::string& declarations = "",
                         const std::string& body = "")
      : world(body, change, declarations) {}

  SmWorld world;
  FrontEnd front_end{world.sm, turnover, faultable, mbarriers};
  FaultableAccesses faultable{world.sm, front_end};
  L1 l1{world.sm};
  OutstandingStores stores;
  Mbarriers mbarriers{world.sm, front_end, l1};
  Flights flights{world.sm, front_end, l1, faultable};
  LineAccess lines{world.sm, l1, stores, flights};
  LoadStoreUnit load_store{world.sm, front_end, faultable, translation, lines, flights};
  Translation translation{world.sm, load_store};
  Printing printing{world.sm};
  const BlockSwitching switching;
  ContextEngine engine{world.sm};
  ClusterBlocks clusters{world.sm, front_end};
  BlockContexts contexts{world.sm,   front_end, faultable, flights,
                         load_store, printing,  mbarriers, clusters};
  LocalScheduler scheduler{
      world.sm,
      switching,
      {front_end, faultable, l1, load_store, translation, contexts, engine, clusters}};
  BlockTurnover turnover{world.sm,   front_end, faultable, l1,      translation,
                         load_store, printing,  scheduler, clusters};
};

}  // namespace lockstep
