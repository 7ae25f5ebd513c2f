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
  FrontEnd front_end{world.constants, world.statistics, world.blocks, world.mistakes,
                     turnover,        faultable,        mbarriers};
  FaultableAccesses faultable{world.constants, world.statistics, world.blocks, front_end};
  L1 l1{world.constants, world.statistics, world.blocks, world.ports};
  OutstandingStores stores;
  CopyGroups copies{64};
  Mbarriers mbarriers{world.constants, world.statistics, world.blocks,
                      world.mistakes,  front_end,        copies};
  Flights flights{world.blocks, front_end, l1, faultable, copies};
  LineAccess lines{world.constants, world.statistics, world.blocks, world.ports, l1,
                   stores,          flights};
  LoadStoreUnit load_store{world.constants, world.statistics, world.blocks, world.mistakes,
                           front_end,       faultable,        translation,  lines,
                           flights};
  Translation translation{world.constants, world.statistics, world.blocks, world.ports, load_store};
  Printing printing{world.blocks, world.mistakes, world.ports};
  const BlockSwitching switching;
  ContextEngine engine{world.constants, world.statistics, world.ports};
  BlockContexts contexts{world.constants, world.statistics, world.blocks, front_end, faultable,
                         flights,         load_store,       printing,     mbarriers};
  LocalScheduler scheduler{world.constants,
                           world.statistics,
                           switching,
                           {world.blocks, world.ports, front_end, faultable, l1, load_store,
                            translation, contexts, engine}};
  BlockTurnover turnover{world.constants, world.blocks, world.ports, front_end, faultable, l1,
                         translation,     load_store,   printing,    scheduler};
};

}  // namespace lockstep
