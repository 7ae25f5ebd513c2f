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
    return *static_cast<const MosaicStatistics*>(world.driver().page_manager().statistics().values);
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

/// Device memory: two large pages, and 256 pages in a frame that has room for as many.
class CompactionTest : public testing::Test {
 protected:
  CompactionTest() {
    for (std::uint64_t page = 0; page < 1024; ++page) world.store(at(large, page), byte(page));
    for (std::uint64_t page = 0; page < 256; ++page) world.store(at(rest, page), byte(page));
  }
  static DriverWorld::Options small() { return options(page_bytes, 5); }
  static std::byte byte(std::uint64_t page) { return static_cast<std::byte>(page * 7 + 1); }
  /// The number by which the world knows it.
  static std::uint64_t at(const TenantPages& pages, std::uint64_t page) {
    return pages.first + page - first;
  }
  void free(std::uint64_t page, std::uint64_t count) {
    world.driver().free_part({tenant, large.first + page, count}, world.cycle());
  }
  void expect_bytes(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t page = begin; page < end; ++page) {
      ASSERT_TRUE(world.on_gpu(at(large, page))) << page;
      ASSERT_EQ(world.gpu_byte(at(large, page)), byte(page)) << page;
      if (!is_large(page)) {
        ASSERT_TRUE(world.entry(at(large, page)).is(PageTableEntry::dirty)) << page;
      }
    }
    for (std::uint64_t page = 0; page < 256; ++page)
      ASSERT_EQ(world.gpu_byte(at(rest, page)), byte(page)) << page;
  }
  bool is_large(std::uint64_t page) {
    return world.driver().tables().is_large(tenant, large.first + page);
  }
  const MosaicStatistics& statistics() {
    return *static_cast<const MosaicStatistics*>(world.driver().page_manager().statistics().values);
  }

  DriverWorld world{small()};
  TenantPages large = world.add_device_buffer(2 * large_page_bytes);
  TenantPages rest = world.add_device_buffer(256 * page_bytes);
};

/// A22.
TEST_F(CompactionTest, LargePageGoesWhenFewerThanHalfOfItsPagesAreInUse) {
  ASSERT_TRUE(is_large(0));
  free(0, 255);
  world.run();
  EXPECT_TRUE(is_large(0));
  EXPECT_EQ(statistics().emergency_frames.value(), 1u);
  EXPECT_EQ(statistics().free_frames.value(), 1u);
  EXPECT_TRUE(world.unmapped_pages.empty());

  free(255, 2);
  EXPECT_TRUE(world.driver().page_manager().holds_issue());
  world.run();
  EXPECT_FALSE(world.driver().page_manager().holds_issue());
  EXPECT_FALSE(is_large(0));
  EXPECT_EQ(statistics().splintered[0].value(), 1u);
  EXPECT_EQ(statistics().moved[0].value(), 255u);
  EXPECT_EQ(statistics().bytes_copied[0].value(), 255u * page_bytes);
  EXPECT_EQ(statistics().emptied[0].value(), 1u);
  EXPECT_EQ(statistics().emergency_frames.value(), 0u);
  EXPECT_EQ(statistics().free_frames.value(), 2u);
  EXPECT_EQ(statistics().allocated_pages[0].value(), 255u + 512u + 256u);
  for (std::uint64_t page = 257; page < 512; ++page)
    EXPECT_EQ(world.entry(at(large, page)).address() / large_page_bytes,
              world.entry(at(rest, 0)).address() / large_page_bytes);
  expect_bytes(257, 1024);
}

TEST_F(CompactionTest, PagesWithoutRoomElsewhereStayInTheFrame) {
  world.add_device_buffer(255 * page_bytes);  // one place is left
  free(10, 300);
  world.run();
  EXPECT_EQ(statistics().moved[0].value(), 1u);
  EXPECT_EQ(statistics().without_destination[0].value(), 211u);
  EXPECT_EQ(statistics().emptied[0].value(), 0u);
  expect_bytes(0, 10);
  expect_bytes(310, 1024);
}

TEST_F(CompactionTest, LargePageWithoutPagesIsFree) {
  free(0, 200);
  free(200, 311);
  world.run();
  EXPECT_EQ(statistics().moved[0].value(), 1u);
  free(511, 1);
  world.run();
  EXPECT_EQ(statistics().free_frames.value(), 2u);
  expect_bytes(512, 1024);
}

TEST_F(CompactionTest, BufferWithHolesGoesAsAWhole) {
  free(0, 100);
  world.driver().unmap(large, nobody_unmaps, world.cycle());
  world.run();
  EXPECT_EQ(statistics().free_frames.value(), 3u);
  EXPECT_EQ(statistics().emergency_frames.value(), 0u);
  EXPECT_EQ(statistics().allocated_pages[0].value(), 256u);
}

/// A23.
TEST_F(CompactionTest, HolesOfALargePageAreUsedWhenFramesHaveRunOut) {
  world.add_device_buffer(large_page_bytes);
  world.add_device_buffer(256 * page_bytes);
  ASSERT_EQ(statistics().free_frames.value(), 0u);
  free(100, 10);
  world.run();
  EXPECT_EQ(statistics().emergency_frames.value(), 1u);
  const TenantPages wanted{tenant, VirtualPage{large.first + 10'000}, 10};
  EXPECT_FALSE(world.driver().settle(wanted, world.cycle())) << "it is being splintered";
  world.run();
  EXPECT_EQ(statistics().emergencies[0].value(), 1u);
  EXPECT_FALSE(is_large(0));
  EXPECT_TRUE(world.driver().settle(wanted, world.cycle()));
  const TenantPages got = world.add_device_buffer(10 * page_bytes);
  ASSERT_EQ(got.count, 10u);
  for (std::uint64_t page = 0; page < 10; ++page)
    EXPECT_EQ(world.entry(at(got, page)).address(),
              world.entry(at(large, 0)).address() + (100 + page) * page_bytes);
  EXPECT_EQ(statistics().guarantee_violations.value(), 0u);
}

}  // namespace
}  // namespace lockstep::test::mosaic_test
