#include "models/sm/load_store/flights.hpp"

#include <gtest/gtest.h>

#include "models/sm/exception_scheme/faultable_accesses.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::flights_test {
namespace {

class FlightsTest : public testing::Test {
 protected:
  FlightsTest() { world.enter_block(32); }

  SmWorld world{"ld.global.u32 %r1, [%rd1];"};
  DrainedList gone;
  NoWaits no_waits;
  FrontEnd front_end{world.sm, gone, faultable, no_waits};
  FaultableAccesses faultable{world.sm, front_end};
  L1 l1{world.sm};
  Flights flights{world.sm, front_end, l1, faultable};
  std::uint32_t pc = world.find_global(isa::Category::load);
};

TEST_F(FlightsTest, CommitsWhenTheYoungestOfItsDataCanBeUsed) {
  const std::uint16_t flight = flights.begin(WarpSlot(0), pc, world.record(pc));
  flights.expect(flight);
  flights.answered(flight, SmCycle(90), SmCycle(50));
  EXPECT_EQ(world.blocks.under_way().flights(WarpSlot(0)), 1u);
  flights.answered(flight, SmCycle(70), SmCycle(60));
  EXPECT_EQ(world.blocks.under_way().flights(WarpSlot(0)), 0u);
  // Farther away than the wheel: not before 90, the cycle of its event.
  EXPECT_EQ(front_end.next_event(), SmCycle(90));
}

TEST_F(FlightsTest, CommitsInTheNextCycleAtTheEarliest) {
  const std::uint16_t flight = flights.begin(WarpSlot(0), pc, world.record(pc));
  flights.answered(flight, SmCycle(10), SmCycle(20));
  EXPECT_EQ(front_end.next_event(), SmCycle(21));
}

TEST_F(FlightsTest, ItsResultsArePendingAsLoads) {
  Warp& warp = world.blocks.warp(WarpSlot(0));
  EXPECT_TRUE(warp.pending.empty());
  flights.begin(WarpSlot(0), pc, world.record(pc));
  Scoreboard needs;
  needs.mark(world.record(pc).release[0]);
  EXPECT_TRUE(warp.pending.meets(warp.loads, needs));
}

TEST_F(FlightsTest, RestoredTheyWaitForTheSame) {
  const std::uint16_t flight = flights.begin(WarpSlot(0), pc, world.record(pc));
  flights.expect(flight);
  Flights other{world.sm, front_end, l1, faultable};
  save_and_restore(flights, other);
  EXPECT_EQ(other[flight].outstanding, 2u);
  EXPECT_EQ(other[flight].pc, pc);
}

}  // namespace
}  // namespace lockstep::flights_test
