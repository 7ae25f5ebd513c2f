#include "models/memory/l2/l2_tags.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <vector>

namespace lockstep::l2_tags_test {
namespace {

/// One set as a list of lines, most recently used first.
class OrderedSet {
 public:
  explicit OrderedSet(std::size_t ways) : ways_(ways) {}

  bool touch(std::uint32_t line) {
    const auto found = std::find(lines_.begin(), lines_.end(), line);
    if (found == lines_.end()) return false;
    lines_.splice(lines_.begin(), lines_, found);
    return true;
  }
  /// The line that has to go for it; absent if a way is free.
  std::uint32_t insert(std::uint32_t line) {
    std::uint32_t gone = L2Tags::absent;
    if (lines_.size() == ways_) {
      gone = lines_.back();
      lines_.pop_back();
    }
    lines_.push_front(line);
    return gone;
  }

 private:
  std::size_t ways_;
  std::list<std::uint32_t> lines_;
};

/// Ways are compared eight at a time, so numbers that are no multiple of eight matter.
TEST(L2Tags, ReplacesTheLeastRecentlyUsedLineForAnyNumberOfWays) {
  for (const std::uint32_t ways : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 16u, 24u, 30u, 63u, 64u}) {
    std::mt19937 random(ways);
    L2Tags tags(1, ways, 1);
    OrderedSet expected(ways);
    for (int round = 0; round < 4000; ++round) {
      const auto line = static_cast<std::uint32_t>(random() % (2 * ways));
      const std::uint32_t place = tags.find(line);
      ASSERT_EQ(place != L2Tags::absent, expected.touch(line)) << ways << " ways, round " << round;
      if (place != L2Tags::absent) {
        ASSERT_EQ(tags.tag(place), line);
        tags.touch(place);
        continue;
      }
      const std::uint32_t victim = tags.victim(line);
      ASSERT_LT(victim, ways) << "round " << round;
      ASSERT_EQ(tags.tag(victim), expected.insert(line)) << ways << " ways, round " << round;
      tags.install(victim, line, CachePosition::most_recent);
    }
  }
}

TEST(L2Tags, LineInsertedAsLeastRecentlyUsedGoesNext) {
  L2Tags tags(1, 6, 1);
  for (std::uint32_t line = 0; line < 6; ++line)
    tags.install(tags.victim(line), line, CachePosition::most_recent);
  tags.install(tags.victim(6), 6, CachePosition::next_to_go);
  EXPECT_EQ(tags.find(0), L2Tags::absent);
  EXPECT_EQ(tags.tag(tags.victim(7)), 6u);
}

TEST(L2Tags, LineInsertedInTheMiddleGoesAfterTheOlderHalf) {
  L2Tags tags(1, 6, 1);
  for (std::uint32_t line = 0; line < 6; ++line)
    tags.install(tags.victim(line), line, CachePosition::most_recent);
  tags.install(tags.victim(6), 6, CachePosition::middle);
  for (const std::uint32_t gone : {1u, 2u, 3u, 6u, 4u}) {
    EXPECT_EQ(tags.tag(tags.victim(7)), gone);
    tags.install(tags.victim(7), 100 + gone, CachePosition::most_recent);
  }
}

}  // namespace
}  // namespace lockstep::l2_tags_test
