/// Memory that is fragmented before the run.
/// Source: 004, section 7.5.4.
#include "models/fragmentation/foreign_pages.hpp"

#include <gmock/gmock.h>

#include <map>
#include <sstream>

#include "models/driver/page_manager/mosaic/mosaic_statistics.hpp"
#include "models/isa/types.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/unit/driver/driver_world.hpp"

namespace lockstep::test::foreign_pages_test {
namespace {

constexpr TenantId tenant = DriverWorld::tenant;
constexpr VirtualPage region{isa::first_global_address / page_bytes};
using Pages = std::vector<Frame>;

std::map<std::uint64_t, std::uint64_t> by_large_frame(const Pages& pages) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const Frame page : pages) ++counts[page.value() / pages_per_large];
  return counts;
}

TEST(ForeignPages, AShareOfLargeFramesHoldsAShareOfItsPages) {
  const Pages pages = foreign_pages({.index = 0.5, .occupancy = 0.25}, 40 * large_page_bytes, 1);
  const auto counts = by_large_frame(pages);
  EXPECT_EQ(counts.size(), 20u);
  for (const auto& [frame, count] : counts) EXPECT_NEAR(static_cast<double>(count), 128, 1);
  EXPECT_EQ(foreign_pages({.index = 0.5, .occupancy = 0.25}, 40 * large_page_bytes, 1), pages);
  EXPECT_NE(foreign_pages({.index = 0.5, .occupancy = 0.25}, 40 * large_page_bytes, 2), pages);
}

TEST(ForeignPages, AllOfMemoryButTheFrameThatIsNobodys) {
  const Pages pages = foreign_pages({.index = 1, .occupancy = 1}, 2 * large_page_bytes, 7);
  ASSERT_EQ(pages.size(), 1023u);
  for (std::uint64_t page = 0; page < 1023; ++page) EXPECT_EQ(pages[page], Frame{page + 1});
}

TEST(ForeignPages, NoneWithoutFragmentation) {
  EXPECT_TRUE(foreign_pages({.index = 0, .occupancy = 1}, 2 * large_page_bytes, 7).empty());
  EXPECT_TRUE(foreign_pages({.index = 1, .occupancy = 0}, 2 * large_page_bytes, 7).empty());
}

TEST(ForeignPages, OneByteThatChangesIsFound) {
  std::vector<std::byte> bytes(3 * page_bytes);
  for (std::uint64_t page = 0; page < 3; ++page)
    write_foreign_bytes(page, 0, std::span(bytes).subspan(page * page_bytes, page_bytes));
  EXPECT_EQ(find_damaged_page(bytes), std::nullopt);
  bytes[2 * page_bytes + 4095] ^= std::byte{1};
  EXPECT_EQ(find_damaged_page(bytes), 2u);
}

/// So many foreign pages at the beginning of large frames 1, 2 and so on.
Pages at_the_beginning(std::initializer_list<std::uint64_t> counts) {
  Pages pages;
  std::uint64_t frame = 1;
  for (const std::uint64_t count : counts) {
    for (std::uint64_t page = 0; page < count; ++page)
      pages.emplace_back(frame * pages_per_large + page);
    ++frame;
  }
  return pages;
}

/// A driver whose memory has no large frame without foreign pages.
struct Fragmented {
  explicit Fragmented(std::initializer_list<std::uint64_t> counts,
                      const std::string& page_manager = "mosaic")
      : world(options(counts, page_manager)) {}

  static DriverWorld::Options options(std::initializer_list<std::uint64_t> counts,
                                      const std::string& page_manager) {
    DriverWorld::Options result;
    result.page_manager = page_manager;
    result.foreign_pages = at_the_beginning(counts);
    result.frames = (1 + counts.size()) * pages_per_large;
    result.bytes = page_bytes;
    return result;
  }
  /// Whether there is, after a while, a large frame for 2 MiB of addresses.
  bool settle() {
    const TenantPages wanted{tenant, region + 10 * pages_per_large, pages_per_large};
    const bool at_once = world.driver().settle(wanted, world.cycle());
    held = world.driver().page_manager().holds_issue();
    world.run();
    EXPECT_TRUE(at_once || world.driver().settle(wanted, world.cycle()));
    return !at_once;
  }
  const MosaicStatistics& statistics() {
    return *static_cast<const MosaicStatistics*>(world.driver().page_manager().statistics().values);
  }

  DriverWorld world;
  bool held = false;
};

TEST(MosaicAmongForeignPages, TheEmptiestFrameIsEmptiedForWhoWantsOne) {
  Fragmented memory({200, 100, 300});
  EXPECT_TRUE(memory.settle());
  EXPECT_TRUE(memory.held) << "no SM issues meanwhile";
  EXPECT_FALSE(memory.world.driver().page_manager().holds_issue());
  EXPECT_EQ(memory.statistics().foreign_moved.value(), 100u);
  EXPECT_EQ(memory.statistics().foreign_emptied.value(), 1u);
  EXPECT_EQ(memory.statistics().free_frames.value(), 1u);
  const auto counts = by_large_frame(memory.world.driver().page_manager().foreign_pages());
  EXPECT_EQ(counts, (std::map<std::uint64_t, std::uint64_t>{{1, 200}, {3, 400}}));
  EXPECT_EQ(find_damaged_page(memory.world.foreign_bytes()), std::nullopt);

  const TenantPages buffer = memory.world.add_device_buffer(large_page_bytes);
  memory.world.run();
  EXPECT_TRUE(memory.world.driver().tables().is_large(tenant, buffer.first));
  EXPECT_EQ(memory.statistics().guarantee_violations.value(), 0u);
  EXPECT_EQ(find_damaged_page(memory.world.foreign_bytes()), std::nullopt);
}

TEST(MosaicAmongForeignPages, WithoutRoomElsewhereTenantsGetPlacesBesideThem) {
  Fragmented memory({400, 400, 400});
  EXPECT_FALSE(memory.settle());
  EXPECT_EQ(memory.statistics().foreign_moved.value(), 0u);
  const TenantPages buffer = memory.world.add_device_buffer(large_page_bytes);
  memory.world.run();
  EXPECT_FALSE(memory.world.driver().tables().is_large(tenant, buffer.first));
  EXPECT_EQ(memory.statistics().guarantee_violations.value(), 512u);
  EXPECT_EQ(find_damaged_page(memory.world.foreign_bytes()), std::nullopt);
}

TEST(MosaicAmongForeignPages, FramesWithPagesOfTenantsStay) {
  Fragmented memory({300, 300, 300});
  memory.world.add_device_buffer(large_page_bytes);
  const TenantPages wanted{tenant, region + 20 * pages_per_large, pages_per_large};
  EXPECT_TRUE(memory.world.driver().settle(wanted, memory.world.cycle()));
  EXPECT_EQ(memory.statistics().foreign_moved.value(), 0u);
}

TEST(MosaicAmongForeignPages, NothingMovesWithoutCompaction) {
  Fragmented memory({10, 10, 10}, "{name: mosaic, compaction: none}");
  EXPECT_FALSE(memory.settle());
  EXPECT_EQ(memory.statistics().foreign_moved.value(), 0u);
}

TEST(BasePagesAmongForeignPages, GetWhatIsFree) {
  Fragmented memory({500, 500, 500}, "base-pages");
  const TenantPages buffer = memory.world.add_device_buffer(large_page_bytes);
  EXPECT_EQ(buffer.count, 512u);
  EXPECT_EQ(find_damaged_page(memory.world.foreign_bytes()), std::nullopt);
}

/// Moves are noted, and done when the test says so.
class Moves final : public PageServices {
 public:
  bool coalesce(TenantId, VirtualPage) override { return false; }
  bool splinter(TenantId, VirtualPage) override { return false; }
  bool copy(TenantId, VirtualPage, Frame) override { return false; }
  void move_foreign(std::uint32_t number, Frame to) override { list.emplace_back(number, to); }

  std::vector<std::pair<std::uint32_t, Frame>> list;
};

class ChannelsTest : public ::testing::Test {
 protected:
  static std::unique_ptr<PageManager> made() {
    PageManager::Setup setup{4 * large_page_bytes, 1, mapping()};
    setup.foreign_pages = at_the_beginning({200, 100, 300});
    return make_page_manager(policy_named(page_manager_policies(), "mosaic"), setup);
  }
  static AddressMapping mapping() { return {AddressMapping::Kind::frame, 3}; }
  void finish_moves() {
    for (const auto& [number, to] : moves.list) manager->foreign_moved(number, to, moves);
  }

  const TenantPages wanted{tenant, region, pages_per_large};
  std::unique_ptr<PageManager> manager = made();
  Moves moves;
};

TEST_F(ChannelsTest, PagesStayInTheirMemoryChannel) {
  EXPECT_FALSE(manager->settle(wanted, moves));
  ASSERT_EQ(moves.list.size(), 100u);
  for (const auto& [number, to] : moves.list)
    EXPECT_EQ(mapping().partition(address_of(to)),
              mapping().partition(address_of(manager->foreign_pages()[number])));
  finish_moves();
  EXPECT_TRUE(manager->settle(wanted, moves));
}

TEST_F(ChannelsTest, GoOnAfterSavingAndRestoringInTheMidst) {
  EXPECT_FALSE(manager->settle(wanted, moves));
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  manager->serialize(saving);
  manager = made();
  Archive restoring = Archive::restoring(bytes);
  manager->serialize(restoring);
  EXPECT_TRUE(manager->holds_issue());
  EXPECT_FALSE(manager->settle(wanted, moves)) << "it waits for the same frame";
  EXPECT_EQ(moves.list.size(), 100u);
  finish_moves();
  EXPECT_FALSE(manager->holds_issue());
  EXPECT_TRUE(manager->settle(wanted, moves));
  const std::vector<FrameRun> frames = manager->allocate(wanted, true);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0], (FrameRun{2 * large_page_bytes, large_page_bytes}));
}

}  // namespace
}  // namespace lockstep::test::foreign_pages_test
