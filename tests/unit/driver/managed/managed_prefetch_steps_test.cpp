/// Prefetch steps of a program (cudaMemPrefetchAsync).
#include <gmock/gmock.h>

#include "tests/unit/driver/driver_world.hpp"

namespace lockstep::test::managed_prefetch_steps_test {
namespace {

using ::testing::ElementsAre;

void prefetch_all(DriverWorld& world, std::uint64_t operation) {
  world.managed().prefetch(world.allocation(), 0, world.pages(), true, operation, world.cycle());
  world.run();
}

TEST(PrefetchStep, MovesEverythingAndSaysWhenItIsDone) {
  DriverWorld world({});
  world.managed().prefetch(world.allocation(), 0, world.pages(), true, 77, world.cycle());
  EXPECT_THAT(world.managed().take_operations(), ElementsAre());
  world.run();
  EXPECT_THAT(world.managed().take_operations(), ElementsAre(77));
  EXPECT_TRUE(world.on_gpu(world.pages() - 1));
  world.managed().prefetch(world.allocation(), 0, world.pages(), false, 78, world.cycle());
  world.run();
  EXPECT_THAT(world.managed().take_operations(), ElementsAre(78));
  EXPECT_FALSE(world.on_gpu(0));
  EXPECT_EQ(world.statistics().pages_written_back[0].value(), 0u);
}

TEST(PrefetchStep, TakesPagesThatWereMappedAtTheHost) {
  DriverWorld world({});
  world.managed().prefer(world.allocation(), PreferredPlace::host, world.cycle());
  world.fault({9});
  world.run();
  ASSERT_TRUE(world.mapped.back().entries[0].is(PageTableEntry::remote));
  world.managed().prefer(world.allocation(), PreferredPlace::none, world.cycle());
  prefetch_all(world, 5);
  EXPECT_THAT(world.managed().take_operations(), ElementsAre(5));
  ASSERT_TRUE(world.on_gpu(9));
  EXPECT_FALSE(world.entry(9).is(PageTableEntry::remote));
  EXPECT_EQ(world.gpu_byte(9), world.host_byte(9));
  EXPECT_EQ(world.statistics().pages_migrated[0].value(), world.pages());
}

TEST(PrefetchStep, MovesMoreThanFitsOnePartAfterTheOther) {
  DriverWorld::Options small;
  small.frames = 1 + 4 + 20;
  DriverWorld world(small);
  prefetch_all(world, 5);
  EXPECT_THAT(world.managed().take_operations(), ElementsAre(5));
  EXPECT_EQ(world.statistics().pages_migrated[0].value(), 64u);
  EXPECT_EQ(world.statistics().pages_evicted[0].value(), 64u - 16u);
  EXPECT_TRUE(world.on_gpu(63));
  EXPECT_FALSE(world.on_gpu(0));
}

TEST(PrefetchStep, WaitsForPagesThatAreStillArriving) {
  DriverWorld::Options small;
  small.frames = 1 + 4 + 64;
  small.bytes = 128 * page_bytes;
  DriverWorld world(small);
  for (std::uint64_t half = 0; half < 2; ++half)
    world.managed().prefetch(world.allocation(), 64 * half, 64, true, 5 + half, world.cycle());
  world.run();
  EXPECT_THAT(world.managed().take_operations(), ElementsAre(5, 6));
  EXPECT_EQ(world.statistics().pages_migrated[0].value(), 128u);
}

TEST(PrefetchStep, CountsItsPagesAsPrefetched) {
  DriverWorld world({});
  prefetch_all(world, 5);
  world.use(3);
  world.managed().prefetch(world.allocation(), 0, world.pages(), false, 6, world.cycle());
  world.run();
  EXPECT_EQ(world.statistics().pages_prefetched[0].value(), 64u);
  EXPECT_EQ(world.statistics().prefetched_used[0].value(), 1u);
  EXPECT_EQ(world.statistics().prefetched_unused[0].value(), 63u);
}

}  // namespace
}  // namespace lockstep::test::managed_prefetch_steps_test
