#include "models/driver/page_manager/frame_allocator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "core/random/random.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::frame_allocator_test {
namespace {

constexpr std::uint64_t page = page_bytes;

constexpr PhysicalAddress at(std::uint64_t address) {
  return PhysicalAddress{address};
}

TEST(FrameAllocator, RangesAreWholePages) {
  FrameAllocator frames(8 * page);
  EXPECT_EQ(frames.allocate(1), at(0));
  EXPECT_EQ(frames.allocate(page), at(page));
  EXPECT_EQ(frames.allocate(page + 1), at(2 * page));
  EXPECT_EQ(frames.allocate(1), at(4 * page));
  EXPECT_EQ(frames.free_bytes(), 3 * page);
}

TEST(FrameAllocator, LowestRangeThatIsLargeEnoughIsTaken) {
  FrameAllocator frames(8 * page);
  for (int i = 0; i < 8; ++i) frames.allocate(page);
  frames.release(at(1 * page), page);
  frames.release(at(3 * page), 2 * page);
  EXPECT_EQ(frames.allocate(2 * page), at(3 * page));
  EXPECT_EQ(frames.allocate(page), at(1 * page));
}

TEST(FrameAllocator, FullMemoryGivesNothing) {
  FrameAllocator frames(2 * page);
  EXPECT_EQ(frames.allocate(3 * page), std::nullopt);
  EXPECT_EQ(frames.allocate(2 * page), at(0));
  EXPECT_EQ(frames.allocate(1), std::nullopt);
}

TEST(FrameAllocator, FreedNeighboursMerge) {
  for (const std::vector<std::uint64_t>& order :
       {std::vector<std::uint64_t>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
    FrameAllocator frames(3 * page);
    for (int i = 0; i < 3; ++i) frames.allocate(page);
    for (const std::uint64_t p : order) frames.release(at(p * page), page);
    EXPECT_EQ(frames.allocate(3 * page), at(0));
  }
}

TEST(FrameAllocator, FreeingTwiceIsABug) {
  FrameAllocator frames(4 * page);
  frames.allocate(4 * page);
  frames.release(at(page), 2 * page);
  EXPECT_THROW(frames.release(at(page), page), InternalError);
  EXPECT_THROW(frames.release(at(2 * page), page), InternalError);
  EXPECT_THROW(frames.release(at(0), 2 * page), InternalError);
}

TEST(FrameAllocator, RangesNeverOverlap) {
  FrameAllocator frames(64 * page);
  Random random(1, ComponentId{0}, 0);
  std::map<PhysicalAddress, std::uint64_t> taken;  // base -> bytes
  std::uint64_t taken_bytes = 0;
  for (int step = 0; step < 5000; ++step) {
    if (random.below(2) == 0) {
      const std::uint64_t bytes = (1 + random.below(9)) * page;
      const auto base = frames.allocate(bytes);
      if (!base) continue;
      const auto after = taken.lower_bound(*base);
      if (after != taken.end()) {
        ASSERT_LE(*base + bytes, after->first);
      }
      if (after != taken.begin()) {
        const auto before = std::prev(after);
        ASSERT_LE(before->first + before->second, *base);
      }
      ASSERT_LE(*base + bytes, at(frames.capacity()));
      taken[*base] = bytes;
      taken_bytes += bytes;
    } else if (!taken.empty()) {
      const auto chosen =
          std::next(taken.begin(), static_cast<std::ptrdiff_t>(random.below(taken.size())));
      frames.release(chosen->first, chosen->second);
      taken_bytes -= chosen->second;
      taken.erase(chosen);
    }
    ASSERT_EQ(frames.free_bytes() + taken_bytes, frames.capacity());
  }
}

TEST(FrameAllocator, RestoredAllocatorMakesTheSameChoices) {
  FrameAllocator frames(8 * page);
  for (int i = 0; i < 5; ++i) frames.allocate(page);
  frames.release(at(2 * page), page);
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  saving(frames);
  FrameAllocator restored;
  Archive restoring = Archive::restoring(bytes);
  restoring(restored);
  EXPECT_EQ(restored.capacity(), frames.capacity());
  for (const std::uint64_t size : {2 * page, page, page, page}) {
    EXPECT_EQ(restored.allocate(size), frames.allocate(size));
  }
}

TEST(FrameAllocator, InGroupsEachTenantGetsFramesOfItsOwn) {
  FrameAllocator frames(9 * page, 4 * page);  // the last group has one page only
  EXPECT_EQ(frames.allocate(page, page, TenantId{1}), at(4 * page));
  EXPECT_EQ(frames.free_bytes(TenantId{0}), 4 * page);
  EXPECT_EQ(frames.free_bytes(TenantId{1}), 3 * page);
  EXPECT_EQ(frames.free_bytes(TenantId{2}), page);
  EXPECT_EQ(frames.allocate(4 * page, page, TenantId{1}), std::nullopt);
  EXPECT_TRUE(frames.allocate_scattered(4 * page, TenantId{1}).empty());
  EXPECT_EQ(frames.allocate_scattered(3 * page, TenantId{1}),
            (std::vector<FrameRun>{{5 * page, 3 * page}}));
  EXPECT_EQ(frames.free_page(2, TenantId{0}), at(2 * page));
  EXPECT_EQ(frames.allocate(page, page, TenantId{2}), at(8 * page));
}

/// Z19 of 004: nothing can be coalesced under GPU-MMU.
TEST(BasePagesAtRandom, NoPagesOfALargeFrameLieTogetherInTheirOrder) {
  const TenantPages pages{TenantId{0}, VirtualPage{0}, 8 * pages_per_large};
  std::uint64_t longest = 0;
  for (const char* policy : {"base-pages", "{name: base-pages, frames: random}"}) {
    const auto manager = make_page_manager(policy_written<page_manager_policies>(policy),
                                           {16 * large_page_bytes, 1});
    longest = 0;
    for (const FrameRun& run : manager->allocate(pages, false))
      longest = std::max(longest, run.bytes);
    if (policy[0] == 'b') {
      EXPECT_EQ(longest, 8 * large_page_bytes);
    }
  }
  EXPECT_LT(longest, 16 * page);
}

}  // namespace
}  // namespace lockstep::frame_allocator_test
