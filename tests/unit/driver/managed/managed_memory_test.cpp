#include "models/driver/managed/managed_memory.hpp"

#include <gmock/gmock.h>

#include "tests/unit/driver/driver_world.hpp"

namespace lockstep::test::managed_memory_test {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

/// Numbers of the buffer's pages that the GMMU was told of, in order.
std::vector<std::uint64_t> told(const DriverWorld& world) {
  std::vector<std::uint64_t> pages;
  for (const auto& heard : world.mapped)
    for (std::size_t i = 0; i < heard.entries.size(); ++i) pages.push_back(heard.page + i);
  return pages;
}

DriverWorld::Options options(FaultCost model = FaultCost::uvmsmart) {
  DriverWorld::Options result;
  result.fault.cost_model = model;
  return result;
}

TEST(ManagedMemory, FaultCostsHandlingThenTheTransferThenTheEntry) {
  DriverWorld world(options());
  const std::int64_t start = world.now().femtoseconds() / 1'000'000;
  world.fault({5});
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(1));
  // 0.5 us to the driver, 45 us of handling, 1 us on the link less its last line, 1 us until that
  // is acknowledged, 1 us for the entry.
  EXPECT_EQ(world.mapped[0].ns - start, 500 + 45'000 + 1'000 + 1'000 + 1'000);
  EXPECT_TRUE(world.mapped[0].entries[0].is(PageTableEntry::present));
  EXPECT_TRUE(world.mapped[0].entries[0].is(PageTableEntry::writable));
  EXPECT_EQ(world.gpu_byte(5), world.host_byte(5));
}

TEST(ManagedMemory, TanasicRoundTripIsExactWhenNothingElseGoesOn) {
  DriverWorld world(options(FaultCost::tanasic));
  const std::int64_t start = world.now().femtoseconds() / 1'000'000;
  world.fault({0});
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(1));
  // The replay reaches the GMMU, 0.5 us away, 12 us after the fault was found.
  EXPECT_EQ(world.mapped[0].ns - start + 500, 12'000);
}

TEST(ManagedMemory, FirstTouchMovesNothingAndReadsZero) {
  DriverWorld world(options(FaultCost::tanasic));
  world.untouched(7);
  const std::int64_t start = world.now().femtoseconds() / 1'000'000;
  world.fault({7});
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(1));
  EXPECT_EQ(world.mapped[0].ns - start + 500, 10'000);
  EXPECT_EQ(world.gpu_byte(7), std::byte{0});
  EXPECT_EQ(world.statistics().pages_allocated[0].value(), 1u);
  EXPECT_EQ(world.statistics().pages_migrated[0].value(), 0u);
}

TEST(ManagedMemory, DistinctPagesAreServedOneAfterTheOther) {
  DriverWorld world(options());
  world.fault({1});
  world.fault({2}, 10);
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(2));
  EXPECT_EQ(world.mapped[1].ns - world.mapped[0].ns, 45'000);
}

TEST(ManagedMemory, FaultsOfOneCycleShareTheirHandlingWhenBatched) {
  DriverWorld::Options batched = options();
  batched.fault.batch = FaultBatch::per_block;
  DriverWorld world(batched);
  world.fault({1, 3, 20});
  world.run();
  EXPECT_THAT(told(world), ElementsAre(1, 3, 20));
  EXPECT_LT(world.mapped[1].ns - world.mapped[0].ns, 5'000);
  EXPECT_GT(world.mapped[2].ns - world.mapped[1].ns, 40'000);
}

TEST(ManagedMemory, FaultOnAPageThatIsThereIsAnsweredAtOnce) {
  DriverWorld world(options());
  world.fault({4});
  world.run();
  world.mapped.clear();
  const Time before = world.now();
  world.fault({4});
  world.run();
  EXPECT_THAT(told(world), ElementsAre(4));
  EXPECT_LT(world.now() - before, 2_us);
}

TEST(ManagedMemory, PrefetchedPagesFollowTheFaultingOne) {
  DriverWorld::Options block = options();
  block.prefetcher = "sequential-local";
  DriverWorld world(block);
  world.fault({16});
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(2));
  EXPECT_THAT(world.mapped[0].entries, SizeIs(1));
  EXPECT_THAT(world.mapped[1].entries, SizeIs(15));
  EXPECT_EQ(world.statistics().pages_prefetched[0].value(), 15u);
  for (std::uint64_t page = 16; page < 32; ++page)
    EXPECT_EQ(world.gpu_byte(page), world.host_byte(page));
}

TEST(ManagedMemory, PrefetchedPagesThatLeaveWereUsedOrNot) {
  DriverWorld::Options block = options(FaultCost::linear);
  block.prefetcher = "sequential-local";
  DriverWorld world(block);
  world.fault({17});
  world.run();
  for (const std::uint64_t page : {17, 19, 20}) world.use(page);
  world.managed().prefetch(world.allocation(), 0, world.pages(), false, 1, world.cycle());
  world.run();
  const HostStatistics& statistics = world.statistics();
  // Page 16 came in the transfer of the fault, 18 to 31 behind it.
  EXPECT_EQ(statistics.pages_demanded[0].value(), 2u);
  EXPECT_EQ(statistics.pages_prefetched[0].value(), 14u);
  EXPECT_EQ(statistics.prefetched_used[0].value(), 2u);
  EXPECT_EQ(statistics.prefetched_unused[0].value(), 12u);
  EXPECT_EQ(statistics.batch_pages[0].bin(5), 1u) << "16 pages";
}

std::vector<std::uint64_t> values(const TreeDecisions& decisions) {
  std::vector<std::uint64_t> result;
  for (const Counter& counter : decisions) result.push_back(counter.value());
  return result;
}

TEST(ManagedMemory, DecisionsOfTheTreeAreCountedByHeight) {
  DriverWorld::Options tree = options(FaultCost::linear);
  tree.prefetcher = tree.eviction = "tree";
  tree.frames = 1 + 4 + 64;
  tree.bytes = 128 * page_bytes;  // 512 KiB, 8 blocks
  DriverWorld world(tree);
  const auto fault = [&](std::uint64_t block) {
    world.fault({(block - 1) * 16});
    world.run();
  };
  for (const std::uint64_t block : {1, 3, 2}) fault(block);  // b4 comes with the last one
  EXPECT_THAT(values(world.statistics().tree_prefetches[0]), ElementsAre(3, 0, 1, 0, 0, 0));
  EXPECT_THAT(values(world.statistics().tree_evictions[0]), ElementsAre(0, 0, 0, 0, 0, 0));
  // With b5 more than half of the whole is there, so that b6, b7 and b8 come, too.
  fault(5);
  EXPECT_THAT(values(world.statistics().tree_prefetches[0]), ElementsAre(4, 0, 1, 1, 0, 0));
  // Memory is full: b1 leaves for b5, then b3, then b2, and with it b4, the rest of a 256 KiB node.
  EXPECT_THAT(values(world.statistics().tree_evictions[0]), ElementsAre(3, 0, 1, 0, 0, 0));
}

TEST(ManagedMemory, FullMemoryEvictsTheLeastRecentAndWritesBackOnlyDirtyPages) {
  DriverWorld::Options small = options(FaultCost::linear);
  small.frames = 1 + 4 + 2;  // the first frame, four levels of tables, two for pages
  DriverWorld world(small);  // lru goes by blocks of 16 pages
  world.fault({0});
  world.fault({16}, 1);
  world.run();
  world.store(0, std::byte{99});
  world.fault({32});
  world.run();
  EXPECT_FALSE(world.on_gpu(0));
  EXPECT_TRUE(world.on_gpu(16));
  EXPECT_TRUE(world.on_gpu(32));
  EXPECT_EQ(world.host_byte(0), std::byte{99});
  EXPECT_EQ(world.statistics().pages_written_back[0].value(), 1u);
  world.fault({48});
  world.run();
  EXPECT_FALSE(world.on_gpu(16));
  EXPECT_EQ(world.statistics().pages_written_back[0].value(), 1u);
  EXPECT_EQ(world.statistics().pages_evicted[0].value(), 2u);
  // Back again: counted as thrashing, with what the GPU had stored.
  world.fault({0});
  world.run();
  EXPECT_EQ(world.gpu_byte(0), std::byte{99});
  EXPECT_EQ(world.statistics().thrashed_pages[0].value(), 1u);
}

TEST(ManagedMemory, PrefetchThatCannotFitIsDroppedButTheFaultIsServed) {
  DriverWorld::Options small = options(FaultCost::linear);
  small.frames = 1 + 4 + 2;
  small.prefetcher = "sequential-local";
  DriverWorld world(small);
  world.fault({0});
  world.run();
  EXPECT_TRUE(world.on_gpu(0));
}

TEST(ManagedMemory, MemoryFullOfWhatCannotLeaveIsTheTenantsMistake) {
  DriverWorld::Options none = options(FaultCost::linear);
  none.frames = 1 + 4;
  DriverWorld world(none);
  world.fault({0});
  world.run();
  const auto failures = world.managed().take_failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_NE(failures[0].message.find("GPU memory is full"), std::string::npos);
  EXPECT_FALSE(world.on_gpu(0));
}

TEST(ManagedMemory, WithoutEvictionATenantThatNeedsRoomEnds) {
  DriverWorld::Options full = options(FaultCost::linear);
  full.eviction = "none";
  full.frames = 1 + 4 + 2;
  DriverWorld world(full);
  world.fault({0});
  world.fault({16}, 1);
  world.run();
  EXPECT_THAT(world.managed().take_failures(), SizeIs(0));
  world.fault({32});
  world.run();
  const auto failures = world.managed().take_failures();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].tenant, DriverWorld::tenant);
  EXPECT_EQ(failures[0].message,
            "w.yaml:1:1: GPU memory is full and policies.eviction is none: there is no room for "
            "page 32 of buffer data of tenant one in 28 KiB - raise gpu.memory.capacity or choose "
            "an eviction policy");
  EXPECT_TRUE(world.on_gpu(0));
  EXPECT_TRUE(world.on_gpu(16));
  EXPECT_FALSE(world.on_gpu(32));
  EXPECT_EQ(world.statistics().pages_evicted[0].value(), 0u);
}

TEST(ManagedMemory, WithoutEvictionAPrefetchTakesWhatRoomThereIs) {
  DriverWorld::Options full = options(FaultCost::linear);
  full.eviction = "none";
  full.prefetcher = "sequential-local";
  full.frames = 1 + 4 + 2;
  DriverWorld world(full);
  world.fault({0});
  world.run();
  EXPECT_THAT(world.managed().take_failures(), SizeIs(0));
  EXPECT_TRUE(world.on_gpu(0));
}

/// Memory that is full of what tenant 1 holds beside the page tables.
struct FullMemory {
  FullMemory()
      : world(settings()),
        held(world.driver().take_frames({TenantId{1}, DriverWorld::first_page, 2}, false)) {}
  static DriverWorld::Options settings() {
    DriverWorld::Options full = options(FaultCost::linear);
    full.frames = 1 + 4 + 2;
    return full;
  }
  /// Tenant 1 has left, and memory is looked at again.
  void left() {
    world.leaves(1, false);
    world.managed().act(world.cycle());
    world.run();
  }

  DriverWorld world;
  std::vector<FrameRun> held;
};

TEST(ManagedMemory, FaultWithoutRoomWaitsForATenantThatIsLeaving) {
  FullMemory full;
  full.world.leaves(1);
  full.world.fault({0});
  full.world.run();
  EXPECT_THAT(full.world.managed().take_failures(), SizeIs(0));
  EXPECT_FALSE(full.world.on_gpu(0));
  full.world.driver().give_back(TenantId{1}, full.held, full.world.cycle());
  full.left();
  EXPECT_THAT(full.world.managed().take_failures(), SizeIs(0));
  EXPECT_TRUE(full.world.on_gpu(0));
}

TEST(ManagedMemory, FaultWithoutRoomFailsWhenWhoLeftHadNothing) {
  FullMemory full;
  full.world.leaves(1);
  full.world.fault({0});
  full.world.run();
  full.left();
  EXPECT_THAT(full.world.managed().take_failures(), SizeIs(1));
  EXPECT_FALSE(full.world.on_gpu(0));
}

TEST(ManagedMemory, TenantThatIsLeavingWaitsForNoRoomItself) {
  FullMemory full;
  full.world.leaves(0);
  full.world.fault({0});
  full.world.run();
  EXPECT_THAT(full.world.managed().take_failures(), SizeIs(0));
  ASSERT_THAT(full.world.mapped, SizeIs(1));
  EXPECT_EQ(full.world.mapped[0].entries[0].bits, 0u) << "whoever waits is told that it is not";
  EXPECT_TRUE(full.world.managed().settled(full.world.allocation()));
}

TEST(ManagedMemory, OneTenantAtATimeIsEndedForWantOfRoom) {
  FullMemory full;
  full.world.fault({0, 1});
  full.world.run();
  EXPECT_THAT(full.world.managed().take_failures(), SizeIs(1));
  // The first one's end may make room for the second.
  full.world.driver().give_back(TenantId{1}, full.held, full.world.cycle());
  full.left();
  EXPECT_TRUE(full.world.on_gpu(1));
}

TEST(ManagedMemory, CpuBringsPagesHomeAndFaultsWaitUntilItIsDone) {
  DriverWorld world(options(FaultCost::linear));
  world.fault({0, 1});
  world.run();
  world.store(1, std::byte{42});
  world.managed().hold(world.allocation());
  EXPECT_FALSE(
      world.managed().migrate_home(world.allocation(), 0, world.pages(), true, world.cycle()));
  world.fault({1});
  world.run();
  EXPECT_FALSE(world.on_gpu(0));
  EXPECT_FALSE(world.on_gpu(1));
  EXPECT_EQ(world.host_byte(1), std::byte{42});
  EXPECT_TRUE(
      world.managed().migrate_home(world.allocation(), 0, world.pages(), true, world.cycle()));
  world.managed().let_go(world.allocation(), world.now());
  world.run();
  EXPECT_TRUE(world.on_gpu(1));
}

TEST(ManagedMemory, PreferredHostIsMappedWhereItIs) {
  DriverWorld world(options(FaultCost::linear));
  world.managed().prefer(world.allocation(), PreferredPlace::host, world.cycle());
  world.fault({9});
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(1));
  EXPECT_TRUE(world.mapped[0].entries[0].is(PageTableEntry::remote));
  EXPECT_EQ(world.mapped[0].entries[0].address(), (std::uint64_t{1} << 50) + 9 * page_bytes);
  EXPECT_TRUE(
      world.managed().migrate_home(world.allocation(), 0, world.pages(), true, world.cycle()));
}

TEST(ManagedMemory, LosesNoFrame) {
  DriverWorld::Options small = options(FaultCost::linear);
  small.frames = 1 + 4 + 5;
  small.prefetcher = "tree";
  DriverWorld world(small);
  const std::uint64_t free = world.driver().free_bytes();
  for (std::uint64_t i = 0; i < 200; ++i) {
    world.fault({i * 7 % world.pages()}, static_cast<std::int64_t>(i % 3));
    if (i % 5 == 0) world.run();
  }
  world.run();
  world.managed().hold(world.allocation());
  while (!world.managed().release(world.allocation(), world.cycle())) world.run();
  EXPECT_EQ(world.driver().free_bytes(), free);
}

TEST(ManagedMemory, LargePagesMoveWhole) {
  DriverWorld::Options large = options(FaultCost::linear);
  large.page_manager = "large-pages";
  large.bytes = 600 * page_bytes;
  large.frames = 512 * 4;
  DriverWorld world(large);
  world.fault({3});
  world.run();
  ASSERT_THAT(world.mapped, SizeIs(1));
  EXPECT_EQ(world.mapped[0].page, 0u);
  EXPECT_THAT(world.mapped[0].entries, SizeIs(512));
  EXPECT_EQ(world.mapped[0].entries[0].address() % large_page_bytes, 0u);
  world.fault({599});
  world.run();
  EXPECT_TRUE(world.on_gpu(512));
  EXPECT_EQ(world.gpu_byte(599), world.host_byte(599));
}

}  // namespace
}  // namespace lockstep::test::managed_memory_test
