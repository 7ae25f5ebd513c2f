#include "models/sm/l1/l1_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace lockstep::l1_cache_test {
namespace {

/// Brings `tag` in as a full line; the tag that had to go, or 0.
std::uint64_t fill(L1Cache& cache, std::uint64_t tag, bool local = false) {
  const std::uint16_t line = cache.victim(tag);
  const std::uint64_t before = cache.line(line).used ? cache.line(line).tag : 0;
  cache.assign(line, tag, local);
  cache.line(line).valid = 0xf;
  return before;
}

TEST(L1Cache, LeastRecentlyUsedLineIsReplaced) {
  L1Cache cache(4, 1);
  for (std::uint64_t tag : {1, 2, 3, 4}) EXPECT_EQ(fill(cache, tag), 0u);
  cache.touch(cache.find(1));
  EXPECT_EQ(fill(cache, 5), 2u);
  EXPECT_EQ(fill(cache, 6), 3u);
  EXPECT_NE(cache.find(1), L1Cache::none);
  EXPECT_EQ(cache.find(2), L1Cache::none);
}

/// A chain round and round through a ninth more lines than there are.
double hits_of_a_chain(L1Cache& cache) {
  constexpr int lines = 1152, rounds = 6;
  int hits = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint64_t tag = 5000; tag < 5000 + lines; ++tag) {
      const std::uint16_t line = cache.find(tag);
      if (line == L1Cache::none) {
        fill(cache, tag);
      } else {
        cache.touch(line);
        hits += round > 0;
      }
    }
  }
  return hits / double{lines * (rounds - 1)};
}

TEST(L1Cache, UnevenSetsKeepAPartOfWhatIsLargerThanTheCache) {
  L1Cache folded(1024, 64), scattered(1024, 64, true);
  EXPECT_EQ(hits_of_a_chain(folded), 0);
  EXPECT_NEAR(hits_of_a_chain(scattered), 0.3, 0.1);
}

TEST(L1Cache, ReservedLinesStay) {
  L1Cache cache(2, 1);
  fill(cache, 1);
  fill(cache, 2);
  cache.line(cache.find(1)).reserved = true;
  EXPECT_EQ(fill(cache, 3), 2u);
  cache.line(cache.find(3)).reserved = true;
  EXPECT_EQ(cache.victim(4), L1Cache::none);
}

TEST(L1Cache, DropCleanKeepsLocalLines) {
  L1Cache cache(4, 1);
  fill(cache, 1);
  fill(cache, 2, true);
  cache.drop_clean();
  EXPECT_EQ(cache.find(1), L1Cache::none);
  EXPECT_NE(cache.find(2), L1Cache::none);
}

TEST(L1Cache, LineOfAnOlderEpochIsReusedForItsTag) {
  L1Cache cache(4, 1);
  for (std::uint64_t tag : {1, 2, 3, 4}) fill(cache, tag);
  cache.drop_clean();
  EXPECT_EQ(fill(cache, 3), 3u);
  EXPECT_NE(cache.find(3), L1Cache::none);
  EXPECT_EQ(fill(cache, 9), 1u);
}

TEST(L1Cache, DroppedLineGoesFirst) {
  L1Cache cache(3, 1);
  for (std::uint64_t tag : {1, 2, 3}) fill(cache, tag);
  cache.drop(cache.find(3));
  EXPECT_EQ(cache.find(3), L1Cache::none);
  EXPECT_EQ(fill(cache, 4), 0u);
  EXPECT_EQ(fill(cache, 5), 1u);
}

TEST(L1Cache, PowerOfTwoStridesUseAllSets) {
  L1Cache cache(64, 16);
  for (std::uint64_t i = 0; i < 64; ++i) fill(cache, 1 + i * 16);
  unsigned present = 0;
  for (std::uint64_t i = 0; i < 64; ++i) present += cache.find(1 + i * 16) != L1Cache::none;
  EXPECT_EQ(present, 64u);
}

/// Few buckets for many tags, so that lines share buckets and leave them in every order.
TEST(L1Cache, HoldsWhatAPlainListHolds) {
  constexpr std::size_t lines = 8;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    L1Cache cache(lines, 1);
    std::vector<std::uint64_t> kept;  // most recently used first
    for (int step = 0; step < 2000; ++step) {
      const std::uint64_t tag = 1 + random() % 400;
      const auto known = std::find(kept.begin(), kept.end(), tag);
      const std::uint16_t line = cache.find(tag);
      ASSERT_EQ(line != L1Cache::none, known != kept.end()) << "seed " << seed << " step " << step;
      if (known != kept.end()) {
        ASSERT_EQ(cache.line(line).tag, tag);
        kept.erase(known);
        if (random() % 3 == 0) {
          cache.drop(line);
          continue;
        }
        cache.touch(line);
      } else {
        const std::uint64_t gone = fill(cache, tag);
        ASSERT_EQ(gone, kept.size() == lines ? kept.back() : 0);
        if (gone != 0) kept.pop_back();
      }
      kept.insert(kept.begin(), tag);
    }
  }
}

}  // namespace
}  // namespace lockstep::l1_cache_test
