#include "core/random/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "core/random/fixed_log.hpp"
#include "core/random/philox_lanes.hpp"

namespace lockstep::random_test {
namespace {

TEST(RandomBlock, IsPhilox4x32WithTenRounds) {
  // The known answers that Random123 publishes in kat_vectors.
  const auto zeros = random_block(0, ComponentId{0}, 0, 0);
  EXPECT_EQ(zeros, (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const auto ones = random_block(~0ull, ComponentId{0xffffffff}, 0xffffffff, ~0ull);
  EXPECT_EQ(ones, (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(PhiloxLanes, HoldTheBlocksThatAreComputedOneByOne) {
  const std::uint64_t seeds[] = {0, 1, 0x0123456789abcdef, ~0ull};
  const std::uint64_t groups[] = {0, 1, 7, 0x3fffffff, 0x40000000, 0x123456789abcull};
  for (const std::uint64_t seed : seeds)
    for (const std::uint32_t word : {0u, 0x101u, 0xffffffffu})
      for (const std::uint64_t group : groups) {
        const PhiloxLanes lanes(seed, ComponentId{word}, ~word);
        for (const PhiloxLanes::Words& words : {lanes.at_v2(group), lanes.at(group)})
          for (std::uint64_t i = 0; i < PhiloxLanes::blocks; ++i)
            EXPECT_EQ(words[i], random_block(seed, ComponentId{word}, ~word, 4 * group + i));
      }
}

TEST(Random, DependsOnSeedComponentAndPurpose) {
  const std::uint64_t value = Random(1, ComponentId{2}, 3).next_uint64();
  EXPECT_EQ(value, Random(1, ComponentId{2}, 3).next_uint64());
  EXPECT_NE(value, Random(2, ComponentId{2}, 3).next_uint64());
  EXPECT_NE(value, Random(1, ComponentId{3}, 3).next_uint64());
  EXPECT_NE(value, Random(1, ComponentId{2}, 4).next_uint64());
}

TEST(Random, GoesOnWhereItWasSaved) {
  Random random(7, ComponentId{1}, 2);
  for (int i = 0; i < 5; ++i) random.next_uint32();
  std::stringstream bytes;
  Archive out = Archive::saving(bytes);
  out(random);
  Random restored(7, ComponentId{1}, 2);
  restored.next_uint32();
  Archive in = Archive::restoring(bytes);
  in(restored);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(random.next_uint32(), restored.next_uint32());
}

TEST(Random, UniformNumbersFillTheUnitInterval) {
  Random random(1, ComponentId{0}, 0);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Random, BelowStaysBelow) {
  Random random(1, ComponentId{0}, 0);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(random.below(7));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(FixedLog, AgreesWithTheLibrary) {
  Random random(1, ComponentId{0}, 0);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(random.uniform() + 1e-9, static_cast<int>(random.below(200)) - 100);
    const double exact = std::log(x);
    ASSERT_NEAR(fixed_log(x), exact, 2e-14 * std::max(1.0, std::abs(exact))) << x;
  }
  EXPECT_EQ(fixed_log(1.0), 0.0);
}

}  // namespace
}  // namespace lockstep::random_test
