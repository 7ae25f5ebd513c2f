/// What is counted of managed memory: each fault once, by what became of it, with all it waited.
#include <gmock/gmock.h>

#include "tests/unit/driver/driver_world.hpp"

namespace lockstep::test::managed_accounting_test {
namespace {

using namespace literals;
using ::testing::SizeIs;

DriverWorld::Options options(FaultCost model, const std::string& prefetcher = "none") {
  DriverWorld::Options result;
  result.fault.cost_model = model;
  result.prefetcher = prefetcher;
  return result;
}

TEST(ManagedAccounting, PrefetchThatFindsNoRoomIsNotCounted) {
  DriverWorld::Options small = options(FaultCost::linear, "sequential-local");
  small.frames = 1 + 4 + 2;
  DriverWorld world(small);
  world.fault({0});
  world.run();
  EXPECT_EQ(world.statistics().pages_demanded[0].value(), 1u);
  EXPECT_EQ(world.statistics().pages_prefetched[0].value(), 0u);
  EXPECT_EQ(world.statistics().batch_pages[0].bin(5), 1u) << "16 pages were asked for";
}

TEST(ManagedAccounting, LateHitIsAFaultOnAPageUnderWay) {
  DriverWorld world(options(FaultCost::uvmsmart, "sequential-local"));
  world.fault({16, 40});
  // The driver is busy with page 40 when this one comes, and page 20 is on its way with page 16.
  world.fault({20}, 46'600);
  world.run();
  EXPECT_EQ(world.statistics().far_faults[0].value(), 3u);
  EXPECT_EQ(world.statistics().late_hits[0].value(), 1u);
  EXPECT_EQ(world.statistics().late_wait[0].bin(16), 1u) << "45 us, until the driver looked at it";
}

TEST(ManagedAccounting, FaultThatWaitedInTheQueueForItsPageIsNoLateHit) {
  DriverWorld world(options(FaultCost::uvmsmart, "sequential-local"));
  world.fault({16, 20});
  world.run();
  EXPECT_EQ(world.statistics().late_hits[0].value(), 0u);
}

TEST(ManagedAccounting, FaultWithLittleRoomTakesTheRowOfThePagesThatCome) {
  DriverWorld::Options small = options(FaultCost::linear, "sequential-local");
  small.frames = 1 + 4 + 4;
  DriverWorld world(small);
  world.fault({15});
  world.run();
  EXPECT_EQ(world.statistics().pages_demanded[0].value(), 4u) << "of sixteen, those before it";
  EXPECT_EQ(world.statistics().pages_evicted[0].value(), 0u);
  for (std::uint64_t page = 12; page < 16; ++page) EXPECT_TRUE(world.on_gpu(page)) << page;
  ASSERT_THAT(world.managed().faults(), SizeIs(1));
  EXPECT_EQ(world.managed().faults()[0].pages, 4u);
  EXPECT_EQ(world.managed().faults()[0].page, DriverWorld::first_page + 12);
  ASSERT_THAT(world.mapped, SizeIs(1));
  EXPECT_EQ(world.mapped[0].page, 12u);
  world.fault({3});
  world.run();
  EXPECT_TRUE(world.on_gpu(3)) << "what stayed at the host faults like any other page";
}

TEST(ManagedAccounting, ThrashedPageFaultsAfterItsEvictionOnly) {
  DriverWorld::Options small = options(FaultCost::linear);
  small.frames = 1 + 4 + 1;
  DriverWorld world(small);
  for (const std::uint64_t page : {0, 1, 0}) {
    world.fault({page});
    world.run();
  }
  EXPECT_EQ(world.statistics().thrashed_pages[0].value(), 1u);
  world.managed().prefetch(world.allocation(), 0, world.pages(), false, 1, world.cycle());
  world.run();
  world.fault({0});
  world.run();
  EXPECT_EQ(world.statistics().thrashed_pages[0].value(), 1u) << "it went home, nobody took it";
}

TEST(ManagedAccounting, FaultsThatMoveNothingAreCountedByKind) {
  DriverWorld world(options(FaultCost::uvmsmart));
  world.managed().read_mostly(world.allocation(), true);
  world.fault({2});
  world.run();
  world.fault({2}, 0, true);
  world.run();
  world.managed().prefer(world.allocation(), PreferredPlace::host, world.cycle());
  world.fault({3});
  world.run();
  const HostStatistics& statistics = world.statistics();
  EXPECT_EQ(statistics.faults_migrated[0].value(), 1u);
  EXPECT_EQ(statistics.faults_permission[0].value(), 1u);
  EXPECT_EQ(statistics.faults_remote[0].value(), 1u);
  EXPECT_EQ(statistics.fault_batches[0].value(), 3u);
  EXPECT_EQ(statistics.fault_transfer[0].bin(12), 1u) << "3 us: page and entry";
  EXPECT_EQ(statistics.fault_transfer[0].bin(10), 2u) << "1 us: entry";
  ASSERT_THAT(world.managed().faults(), SizeIs(3));
  for (const FaultRecord& fault : world.managed().faults()) {
    EXPECT_EQ(fault.served - fault.arrived, 45_us);
    EXPECT_NE(fault.mapped, Time::never());
  }
}

TEST(ManagedAccounting, FaultThatWaitsForTheCpuKeepsItsArrival) {
  DriverWorld world(options(FaultCost::uvmsmart));
  world.managed().hold(world.allocation());
  world.fault({1});
  world.fault({2}, 100'000);
  world.run();
  world.managed().let_go(world.allocation(), world.now());
  world.run();
  ASSERT_THAT(world.managed().faults(), SizeIs(2));
  const FaultRecord& fault = world.managed().faults()[0];
  EXPECT_EQ(fault.arrived - fault.found, 500_ns);
  EXPECT_EQ(fault.served - fault.arrived, 145_us);
}

TEST(ManagedAccounting, WholeCostOfAFirstTouchIsThatOfAnAllocation) {
  DriverWorld::Options whole = options(FaultCost::tanasic);
  whole.fault.serialize = FaultSerialization::whole_cost;
  DriverWorld world(whole);
  for (const std::uint64_t page : {1, 2}) world.untouched(page);
  world.fault({1, 2, 3, 4});
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(4));
  EXPECT_EQ(world.mapped[1].ns - world.mapped[0].ns, 10'000);
  EXPECT_EQ(world.mapped[3].ns - world.mapped[2].ns, 12'000);
}

TEST(ManagedAccounting, AllThatWaitIsHandledAtOnceWhenTheDriverDrainsTheQueue) {
  DriverWorld::Options drained = options(FaultCost::uvmsmart);
  drained.fault.batch = FaultBatch::all_waiting;
  DriverWorld world(drained);
  world.fault({1});
  world.fault({2}, 10);
  world.fault({40}, 20'000);
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(3));
  EXPECT_GT(world.mapped[1].ns - world.mapped[0].ns, 40'000);
  EXPECT_LT(world.mapped[2].ns - world.mapped[1].ns, 5'000);
  EXPECT_EQ(world.statistics().fault_batches[0].value(), 2u);
}

}  // namespace
}  // namespace lockstep::test::managed_accounting_test
