#include "models/driver/managed/managed_pages.hpp"

#include <gmock/gmock.h>

#include "tests/unit/driver/managed_page_literal.hpp"

namespace lockstep::test::managed_pages_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Writes down what it is told.
class Listener final : public Eviction {
 public:
  void arrived(ManagedPage page) override { here.push_back(page); }
  void accessed(ManagedPage) override {}
  void left(ManagedPage page) override { std::erase(here, page); }
  void choose(const EvictionView&, std::uint64_t, std::uint64_t, std::vector<PageRange>&) override {
  }
  void serialize(Archive&) override {}

  std::vector<ManagedPage> here;
};

class ManagedPagesTest : public testing::Test {
 protected:
  ManagedPagesTest() { set_tenants(statistics, 1); }

  std::uint32_t add(std::uint64_t count) {
    return pages.add(TenantId{0}, BufferId{0}, VirtualPage{1 << 20}, count);
  }
  void come(PageRange range, bool writable = true) {
    pages.expect(range);
    pages.occupy(range);
    pages.arrive(range, writable, statistics);
  }

  Listener listener;
  HostStatistics statistics;
  ManagedPages pages{listener, 1};
};

TEST_F(ManagedPagesTest, PageIsCountedWhereItIs) {
  const std::uint32_t buffer = add(64);
  pages.expect({3_page, 2});
  EXPECT_EQ(pages.place(3_page), PagePlace::arriving);
  EXPECT_EQ(pages.buffer(buffer).moving, 2u);
  pages.occupy({3_page, 2});
  EXPECT_EQ(pages.arriving(), 2u);
  pages.arrive({3_page, 2}, true, statistics);
  EXPECT_EQ(pages.arriving(), 0u);
  EXPECT_EQ(pages.resident(), 2u);
  EXPECT_EQ(statistics.resident_pages[0].value(), 2u);
  EXPECT_THAT(listener.here, ElementsAre(3_page, 4_page));
  pages.leave({4_page, 1}, statistics);
  EXPECT_EQ(pages.resident(), 1u);
  EXPECT_EQ(pages.leaving(), 1u);
  EXPECT_THAT(listener.here, ElementsAre(3_page));
  pages.come_home({4_page, 1}, 1);
  EXPECT_EQ(pages.leaving(), 0u);
  EXPECT_EQ(pages.place(4_page), PagePlace::host);
  EXPECT_EQ(pages.buffer(buffer).moving, 0u);
}

TEST_F(ManagedPagesTest, RemotePageIsNotInGpuMemory) {
  const std::uint32_t buffer = add(64);
  pages.expect({3_page, 1});
  pages.stay_remote({3_page, 1});
  EXPECT_EQ(pages.resident(), 0u);
  EXPECT_EQ(pages.buffer(buffer).remote, 1u);
  EXPECT_THAT(listener.here, IsEmpty());
  pages.leave({3_page, 1}, statistics);
  EXPECT_EQ(pages.leaving(), 0u);
  pages.come_home({3_page, 1}, 0);
  EXPECT_EQ(pages.buffer(buffer).remote, 0u);
}

TEST_F(ManagedPagesTest, CopyThatIsStoredToIsOnItsWayUntilItMayBeWritten) {
  const std::uint32_t buffer = add(64);
  come({0_page, 4}, false);
  EXPECT_EQ(pages.buffer(buffer).duplicates, 4u);
  pages.reopen({2_page, 1}, statistics);
  EXPECT_EQ(pages.place(2_page), PagePlace::arriving);
  EXPECT_THAT(listener.here, ElementsAre(0_page, 1_page, 3_page)) << "nobody takes it meanwhile";
  pages.arrive({2_page, 1}, true, statistics);
  EXPECT_FALSE(pages.has(2_page, ManagedPages::duplicate));
  EXPECT_TRUE(pages.has(1_page, ManagedPages::duplicate));
  EXPECT_EQ(pages.buffer(buffer).duplicates, 3u);
}

TEST_F(ManagedPagesTest, RangesOfPagesThatAreThereAreAsLongAsPossible) {
  const std::uint32_t buffer = add(64);
  come({2_page, 3});
  come({5_page, 1});
  come({9_page, 1});
  EXPECT_THAT(pages.resident_ranges(buffer),
              ElementsAre(PageRange{2_page, 4}, PageRange{9_page, 1}));
}

TEST(ManagedPagesInGranules, RangesAreWidenedToTheEndOfTheAllocation) {
  Listener listener;
  ManagedPages pages(listener, 512);
  pages.add(TenantId{0}, BufferId{0}, VirtualPage{1 << 20}, 600);
  EXPECT_EQ(pages.whole_granules({5_page, 1}), (PageRange{0_page, 512}));
  EXPECT_EQ(pages.whole_granules({511_page, 2}), (PageRange{0_page, 600}));
  EXPECT_EQ(pages.whole_granules({599_page, 1}), (PageRange{512_page, 88}));
}

}  // namespace
}  // namespace lockstep::test::managed_pages_test
