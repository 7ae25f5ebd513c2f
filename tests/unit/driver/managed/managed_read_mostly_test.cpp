/// Read-mostly buffers: pages on the GPU are copies until somebody stores to them.
#include <gmock/gmock.h>

#include "tests/unit/driver/driver_world.hpp"

namespace lockstep::test::managed_read_mostly_test {
namespace {

DriverWorld::Options options(const std::string& prefetcher) {
  DriverWorld::Options result;
  result.fault.cost_model = FaultCost::linear;
  result.prefetcher = prefetcher;
  return result;
}

TEST(ReadMostly, PagesAreCopiesUntilSomebodyStores) {
  DriverWorld world(options("none"));
  world.managed().read_mostly(world.allocation(), true);
  world.fault({2});
  world.run();
  EXPECT_FALSE(world.mapped[0].entries[0].is(PageTableEntry::writable));
  // The CPU reads its own copy; nothing moves.
  EXPECT_TRUE(
      world.managed().migrate_home(world.allocation(), 0, world.pages(), false, world.cycle()));
  world.fault({2}, 0, true);
  world.run();
  EXPECT_TRUE(world.mapped.back().entries[0].is(PageTableEntry::writable));
  EXPECT_EQ(world.gpu_byte(2), world.host_byte(2));
  EXPECT_FALSE(
      world.managed().migrate_home(world.allocation(), 0, world.pages(), false, world.cycle()));
}

TEST(ReadMostly, AStoreTakesOnlyItsOwnPageFromTheHost) {
  DriverWorld world(options("sequential-local"));
  world.managed().read_mostly(world.allocation(), true);
  world.fault({4}, 0, true);
  world.run();
  for (std::uint64_t page = 0; page < 16; ++page) ASSERT_TRUE(world.on_gpu(page)) << page;
  EXPECT_FALSE(
      world.managed().migrate_home(world.allocation(), 0, world.pages(), false, world.cycle()));
  world.run();
  for (std::uint64_t page = 0; page < 16; ++page)
    EXPECT_EQ(world.on_gpu(page), page != 4) << "the CPU reads, page " << page;
}

TEST(ReadMostly, PagesThatCameAlongWithAStoreStayCopies) {
  DriverWorld::Options together = options("tree");
  together.fault.batch = FaultBatch::per_batch;
  DriverWorld world(together);
  world.managed().read_mostly(world.allocation(), true);
  world.fault({0});
  world.fault({9}, 0, true);
  world.run();
  world.fault({3}, 0, true);  // a copy becomes the only one
  world.run();
  world.managed().migrate_home(world.allocation(), 0, world.pages(), false, world.cycle());
  world.run();
  for (std::uint64_t page = 0; page < 16; ++page)
    EXPECT_EQ(world.on_gpu(page), page != 9 && page != 3) << page;
}

}  // namespace
}  // namespace lockstep::test::managed_read_mostly_test
