/// Mosaic in the driver.
/// Source: memory-interference.md, section 11.
#include <gmock/gmock.h>

#include "models/driver/page_manager/mosaic/mosaic_statistics.hpp"
#include "tests/unit/driver/driver_world.hpp"

namespace lockstep::test::mosaic_test {
namespace {

constexpr TenantId tenant = DriverWorld::tenant;
constexpr VirtualPage first = DriverWorld::first_page;

DriverWorld::Options options(std::uint64_t bytes, std::uint64_t large_frames) {
  DriverWorld::Options result;
  result.page_manager = "mosaic";
  result.frames = large_frames * pages_per_large;
  result.bytes = bytes;
  return result;
}

class MosaicTest : public testing::Test {
 protected:
  void expect_bytes() {
    for (std::uint64_t page = 0; page < world.pages(); ++page)
      if (world.on_gpu(page)) {
        ASSERT_EQ(world.gpu_byte(page), world.host_byte(page)) << page;
      }
  }
  const MosaicStatistics& statistics() {
    return *static_cast<const MosaicStatistics*>(world.driver().statistics().values);
  }
  bool is_large(std::uint64_t page) {
    return world.driver().tables().is_large(tenant, first + page);
  }

  DriverWorld world{options(2 * large_page_bytes, 8)};
};

/// A18.
TEST_F(MosaicTest, TwoFramesAreCoalescedAfterTheirLastTransferAndNothingIsUnmapped) {
  world.managed().prefetch(world.allocation(), 0, world.pages() - 1, true, 1, world.cycle());
  world.run();
  EXPECT_TRUE(is_large(0));
  EXPECT_FALSE(is_large(512)) << "a page is missing";
  world.managed().prefetch(world.allocation(), 0, world.pages(), true, 2, world.cycle());
  world.run();
  EXPECT_TRUE(is_large(512));
  EXPECT_TRUE(world.unmapped_pages.empty());
  for (std::uint64_t page = 0; page < 1024; ++page)
    EXPECT_EQ(world.entry(page).address(), world.entry(0).address() + page * page_bytes);
  EXPECT_EQ(world.entry(0).address() % large_page_bytes, 0u);
  EXPECT_EQ(statistics().owned_frames[0].value(), 2u);
  EXPECT_EQ(statistics().coalesced[0].value(), 2u);
  expect_bytes();
}

TEST_F(MosaicTest, PagesThatTheHostHasAsWellAreNotCoalesced) {
  world.managed().read_mostly(world.allocation(), true);
  world.managed().prefetch(world.allocation(), 0, world.pages(), true, 1, world.cycle());
  world.run();
  EXPECT_FALSE(is_large(0));
  EXPECT_EQ(statistics().coalesced[0].value(), 0u);
}

/// What leaves in part is splintered first, and what stays keeps the bits of the large page.
TEST_F(MosaicTest, PartOfALargePageLeavesAndTheRestStaysDirty) {
  world.managed().prefetch(world.allocation(), 0, world.pages(), true, 1, world.cycle());
  world.run();
  world.store(0, std::byte{42});  // the first entry stands for all
  world.managed().prefetch(world.allocation(), 100, 10, false, 2, world.cycle());
  world.run();
  EXPECT_FALSE(is_large(0));
  EXPECT_TRUE(is_large(512));
  EXPECT_FALSE(world.on_gpu(100));
  EXPECT_TRUE(world.on_gpu(99));
  EXPECT_EQ(world.unmapped_pages.size(), 522u);
  world.managed().prefetch(world.allocation(), 100, 10, true, 3, world.cycle());
  world.run();
  EXPECT_TRUE(is_large(0)) << "it is whole again";
  EXPECT_EQ(statistics().coalesced[0].value(), 3u);
  world.managed().prefetch(world.allocation(), 0, world.pages(), false, 4, world.cycle());
  world.run();
  EXPECT_EQ(world.host_byte(0), std::byte{42});
}

}  // namespace
}  // namespace lockstep::test::mosaic_test
