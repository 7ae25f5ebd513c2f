/// Barriers with blocks and a front end, and nothing that issues.  With kernels: barrier_test.cpp.
#include <gtest/gtest.h>

#include "models/sm/exception_scheme/faultable_accesses.hpp"
#include "models/sm/execution/barriers.hpp"
#include "models/sm/front_end/issue_path.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::barriers_alone_test {
namespace {

class BarriersAloneTest : public testing::Test {
 protected:
  BarriersAloneTest() {
    for_each_warp(0b11, [&](WarpSlot slot) { front_end.add(slot, SmCycle(1)); });
    front_end.begin_cycle(SmCycle(1));
    // Both stand at their barrier.
    for_each_warp(0b11, [&](WarpSlot slot) {
      Warp& warp = world.blocks.warp(slot);
      while (warp.paths.pc() < pc) warp.paths.advance();
    });
  }
  void arrive(unsigned warp, std::int64_t now) {
    barriers.arrive(WarpSlot(static_cast<std::uint16_t>(warp)), world.instruction(pc), ~0u,
                    SmCycle(now));
  }

  SmWorld world{"bar.sync 0;"};
  DrainedList gone;
  NoWaits no_waits;
  FrontEnd front_end{world.sm, gone, faultable, no_waits};
  FaultableAccesses faultable{world.sm, front_end};
  Barriers barriers{world.sm, front_end};
  std::uint32_t pc = world.find(isa::Category::barrier);
  BlockPlace place = world.enter_block(64);
};

TEST_F(BarriersAloneTest, WarpsGoOnWhenTheLastThreadHasCome) {
  arrive(0, 10);
  EXPECT_EQ(front_end.waiting(StallCause::barrier), 0b01u);
  arrive(1, 20);
  EXPECT_EQ(front_end.waiting(StallCause::barrier), 0u);
  EXPECT_EQ(front_end.next_event(),
            SmCycle(20) + world.constants.parameters.barrier_latency.count());
  EXPECT_EQ(world.blocks.warp(WarpSlot(0)).paths.pc(), pc + 1);
}

TEST_F(BarriersAloneTest, AnEndedThreadIsNotWaitedFor) {
  arrive(0, 10);
  world.blocks.warp(WarpSlot(1)).paths.exit(~0u);
  world.blocks.block(place).alive_threads -= 32;
  barriers.check(place, 0, SmCycle(15));
  EXPECT_EQ(front_end.waiting(StallCause::barrier), 0u);
}

TEST_F(BarriersAloneTest, ABarrierOrdersTheStoresBeforeIt) {
  UnderWay& under_way = world.blocks.under_way();
  under_way.stores_begin(WarpSlot(0), place, 3);
  EXPECT_EQ(under_way.ordered_stores(place), 0u);
  arrive(0, 10);
  arrive(1, 20);
  EXPECT_EQ(under_way.stores(place), 3u);
  EXPECT_EQ(under_way.ordered_stores(place), 3u);
  EXPECT_EQ(under_way.phase(place), 1u);
}

TEST_F(BarriersAloneTest, AWarpThatWaitsForNobodyIsTheTenantsMistake) {
  world.blocks.warp(WarpSlot(1)).paths.exit(~0u);  // still counted: as if it hung elsewhere
  arrive(0, 10);
  EXPECT_EQ(world.sent(SmWorld::host).size(), 1u);
}

}  // namespace
}  // namespace lockstep::barriers_alone_test
