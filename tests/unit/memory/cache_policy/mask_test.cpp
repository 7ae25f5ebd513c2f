/// Which levels of page walks look up in the L2: test A15 of memory-interference.md, section 11.
#include <gtest/gtest.h>

#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::mask_cache_test {
namespace {

class MaskCacheTest : public ::testing::Test {
 protected:
  static MemoryParameters memory() { return small_memory(); }  // a cycle of a nanosecond
  static Time time(std::int64_t cycle) { return Clock(memory().clock).period() * cycle; }

  static MemoryRequest read(unsigned level) {
    MemoryRequest request;
    request.sectors = 1;
    request.walk_level = static_cast<std::uint8_t>(level);
    if (level != 0) request.source = SourceKind::gmmu;
    return request;
  }
  void look_up(unsigned level, unsigned lookups, unsigned hits, std::int64_t cycle) {
    for (unsigned i = 0; i < lookups; ++i)
      policy->on_lookup(read(level), {.hits = i < hits}, time(cycle));
  }
  /// Of so many reads of a level, those that go past the L2.
  unsigned past(unsigned level, unsigned reads, std::int64_t cycle) {
    unsigned count = 0;
    for (unsigned i = 0; i < reads; ++i)
      count += policy->on_arrival(read(level), 0, time(cycle)) == CacheAdmission::to_dram;
    return count;
  }

  std::unique_ptr<CachePolicy> policy = cache_policy_named("mask", memory());
};

TEST_F(MaskCacheTest, ALevelThatHitsLessOftenThanDataGoesPast) {
  look_up(0, 1000, 400, 10);
  look_up(1, 100, 99, 10);
  look_up(2, 100, 98, 10);
  look_up(3, 100, 68, 10);
  look_up(4, 100, 1, 10);
  EXPECT_EQ(past(4, 31, 99'999), 0u);  // judged at the end of the epoch
  for (const unsigned level : {0u, 1u, 2u, 3u}) EXPECT_EQ(past(level, 100, 100'000), 0u) << level;
  EXPECT_EQ(past(4, 320, 100'000), 310u);  // one in 32 looks up
}

TEST_F(MaskCacheTest, AHundredLookupsAreNeeded) {
  look_up(0, 1000, 400, 10);
  look_up(3, 99, 0, 10);
  look_up(4, 100, 0, 10);
  EXPECT_EQ(past(3, 31, 100'000), 0u);
  EXPECT_EQ(past(4, 31, 100'000), 31u);
}

TEST_F(MaskCacheTest, ALevelComesBackByWhatStillLooksUp) {
  look_up(0, 1000, 400, 10);
  look_up(4, 100, 0, 10);
  EXPECT_EQ(past(4, 31, 100'000), 31u);
  look_up(0, 1000, 400, 100'010);
  look_up(4, 4, 3, 100'010);
  EXPECT_EQ(past(4, 100, 200'000), 0u);
}

TEST_F(MaskCacheTest, ReadsOfTheHostAreNoData) {
  MemoryRequest copy = read(0);
  copy.source = SourceKind::host;
  for (int i = 0; i < 1000; ++i) policy->on_lookup(copy, {.hits = 1}, time(10));
  look_up(4, 100, 0, 10);
  EXPECT_EQ(past(4, 31, 100'000), 0u);
}

}  // namespace
}  // namespace lockstep::test::mask_cache_test
