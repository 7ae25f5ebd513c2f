#include "core/memory/buckets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lockstep::buckets_test {
namespace {

/// How many of `keys` keys, `stride` apart, the fullest bucket holds.
unsigned fullest(const Buckets& buckets, unsigned keys, std::uint64_t stride) {
  std::vector<unsigned> held(buckets.count());
  for (unsigned i = 0; i < keys; ++i) ++held.at(buckets.of(i * stride));
  return *std::max_element(held.begin(), held.end());
}

TEST(Buckets, AreAPowerOfTwoAndAtLeastAsManyAsAskedFor) {
  EXPECT_EQ(Buckets(2).count(), 2u);
  EXPECT_EQ(Buckets(1000).count(), 1024u);
  EXPECT_EQ(Buckets(1024).count(), 1024u);
}

TEST(Buckets, NeighboursOfABlockStayNeighbours) {
  const Buckets buckets(2048);
  EXPECT_EQ(fullest(buckets, 2048, 1), 1u);
  for (const std::uint64_t block : {0u, 1u, 77u, 123'456u}) {
    const std::uint64_t first = block * 2048;
    for (std::uint64_t key = first; key < first + 2048; key += 16)
      for (std::uint64_t i = 0; i < 16; ++i)
        EXPECT_EQ(buckets.of(key + i) / 16, buckets.of(key) / 16) << "key " << key + i;
  }
}

TEST(Buckets, StridesOfAnyPowerOfTwoSpread) {
  const Buckets buckets(2048);
  for (unsigned shift = 0; shift < 50; ++shift)
    EXPECT_LE(fullest(buckets, 1024, std::uint64_t{1} << shift), 10u) << "stride 2^" << shift;
}

}  // namespace
}  // namespace lockstep::buckets_test
