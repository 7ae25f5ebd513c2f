#include "models/sm/access/coalescer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <vector>

#include "models/noc/messages.hpp"
#include "tests/unit/sm/access/addresses_in_runs.hpp"

namespace lockstep::coalescer_test {
namespace {

Access group(std::uint32_t active, unsigned bytes, std::uint64_t base, std::int64_t stride) {
  LaneAddresses address;
  for (unsigned lane = 0; lane < 32; ++lane)
    address[lane] = base + static_cast<std::uint64_t>(stride * std::int64_t{lane});
  Access access;
  access.active = active;
  access.stride = static_cast<std::uint8_t>(bytes);
  coalesce(access, address, bytes);
  return access;
}

TEST(Coalescer, AlignedWarpIsOneLine) {
  const Access a = group(~0u, 4, 0x1000, 4);
  ASSERT_EQ(a.groups, 1);
  EXPECT_EQ(a.group[0].line, 0x1000u);
  EXPECT_EQ(a.group[0].sectors, 0xf);
  EXPECT_EQ(a.group[0].lanes, ~0u);
}

TEST(Coalescer, ShiftedWarpTakesTwoLinesAndFiveSectors) {
  const Access a = group(~0u, 4, 0x1010, 4);
  ASSERT_EQ(a.groups, 2);
  EXPECT_EQ(a.group[0].sectors, 0xf);
  EXPECT_EQ(a.group[1].sectors, 0x1);
  EXPECT_EQ(a.group[0].lanes, 0x0fffffffu);
  EXPECT_EQ(a.group[1].lanes, 0xf0000000u);
}

TEST(Coalescer, QuarterOfAWarpTakesOneSector) {
  const Access a = group(0xff00, 4, 0x1000, 4);
  ASSERT_EQ(a.groups, 1);
  EXPECT_EQ(a.group[0].sectors, 0x2);
}

TEST(Coalescer, SixteenBytesALaneTakeFourLines) {
  const Access a = group(~0u, 16, 0x2000, 16);
  ASSERT_EQ(a.groups, 4);
  for (int g = 0; g < 4; ++g) EXPECT_EQ(a.group[g].sectors, 0xf);
  EXPECT_EQ(a.group[1].lanes, 0xff00u);
}

TEST(Coalescer, OneAddressIsOneSector) {
  const Access a = group(~0u, 4, 0x1044, 0);
  ASSERT_EQ(a.groups, 1);
  EXPECT_EQ(a.group[0].sectors, 0x4);
  EXPECT_EQ(a.group[0].lanes, ~0u);
}

TEST(Coalescer, StrideOfALineTakesALineForEachLane) {
  const Access a = group(~0u, 4, 0x1000, 128);
  ASSERT_EQ(a.groups, 32);
  for (unsigned g = 0; g < 32; ++g) {
    EXPECT_EQ(a.group[g].line, 0x1000 + 128 * g);
    EXPECT_EQ(a.group[g].lanes, 1u << g);
    EXPECT_EQ(a.group[g].sectors, 1);
  }
}

TEST(Coalescer, DescendingAddressesShareTheirLine) {
  const Access a = group(~0u, 4, 0x107c, -4);
  ASSERT_EQ(a.groups, 1);
  EXPECT_EQ(a.group[0].sectors, 0xf);
  EXPECT_EQ(a.offset[0], 0x7c);
  EXPECT_EQ(a.offset[31], 0);
}

TEST(Coalescer, LinesGoInTheOrderOfTheirFirstLanes) {
  LaneAddresses address;
  for (unsigned lane = 0; lane < 32; ++lane) address[lane] = lane % 2 ? 0x1000 : 0x9000;
  Access access;
  access.active = ~0u;
  coalesce(access, address, 4);
  ASSERT_EQ(access.groups, 2);
  EXPECT_EQ(access.group[0].line, 0x9000u);
  EXPECT_EQ(access.group[0].lanes, 0x55555555u);
}

/// What coalescing means, lane by lane.
std::vector<LineGroup> by_definition(const LaneAddresses& address, std::uint32_t active,
                                     unsigned bytes) {
  std::vector<LineGroup> groups;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!((active >> lane) & 1)) continue;
    const std::uint64_t line = address[lane] / line_bytes * line_bytes;
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const LineGroup& g) { return g.line == line; });
    if (found == groups.end()) found = groups.insert(found, {.line = line});
    found->lanes |= 1u << lane;
    for (std::uint64_t at = address[lane]; at < address[lane] + bytes; ++at)
      found->sectors |= static_cast<std::uint8_t>(1u << (at - line) / sector_bytes);
  }
  return groups;
}

/// Runs of consecutive addresses that begin anywhere in a few lines, with some lanes off.
TEST(Coalescer, GroupsRunsOfLanesAsLaneByLane) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const std::uint32_t active = (round % 3 ? ~0u : random()) | 1u << random() % 32;
    const LaneAddresses address = addresses_in_runs(random, bytes, 6);
    Access access;
    access.active = active;
    coalesce(access, address, bytes);

    const std::vector<LineGroup> expected = by_definition(address, active, bytes);
    ASSERT_EQ(access.groups, expected.size()) << "round " << round;
    for (unsigned g = 0; g < access.groups; ++g) {
      EXPECT_EQ(access.group[g].line, expected[g].line) << "round " << round;
      EXPECT_EQ(access.group[g].lanes, expected[g].lanes) << "round " << round;
      EXPECT_EQ(access.group[g].sectors, expected[g].sectors) << "round " << round;
    }
    for (unsigned g = 0; g < access.groups; ++g) {
      const auto first = static_cast<unsigned>(std::countr_zero(access.group[g].lanes));
      EXPECT_EQ(access.group[g].first_offset, address[first] % line_bytes) << "round " << round;
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (((active >> lane) & 1) && !access.contiguous) {
        EXPECT_EQ(access.offset[lane], address[lane] % line_bytes) << "round " << round;
      }
    }
  }
}

/// Two registers of 32 bits a lane, as a 64-bit address stands in rows.
std::array<std::uint32_t, 64> registers_of(const LaneAddresses& address) {
  return std::bit_cast<std::array<std::uint32_t, 64>>(address);
}

TEST(Coalescer, ConsecutiveLanesAreRecognisedByEachOfThem) {
  for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
    LaneAddresses address;
    for (unsigned lane = 0; lane < 32; ++lane) address[lane] = 0x1'0000'0ff0 + lane * bytes;
    EXPECT_TRUE(are_consecutive(registers_of(address).data(), bytes));
    EXPECT_FALSE(are_consecutive(registers_of(address).data(), 2 * bytes));
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (const std::uint64_t off : {std::uint64_t{1}, std::uint64_t{1} << 40}) {
        LaneAddresses other = address;
        other[lane] += off;
        EXPECT_FALSE(are_consecutive(registers_of(other).data(), bytes)) << "lane " << lane;
      }
    }
  }
}

TEST(Coalescer, ConsecutiveLanesGroupAsAnyOthers) {
  for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (std::uint64_t base = 0x4000; base < 0x4000 + 2 * line_bytes; base += bytes) {
      const Access expected = group(~0u, bytes, base, bytes);
      Access access;
      access.active = ~0u;
      coalesce_consecutive(access, base, bytes);
      ASSERT_EQ(access.groups, expected.groups);
      EXPECT_EQ(access.contiguous, expected.contiguous);
      for (unsigned g = 0; g < access.groups; ++g) {
        EXPECT_EQ(access.group[g].line, expected.group[g].line);
        EXPECT_EQ(access.group[g].lanes, expected.group[g].lanes);
        EXPECT_EQ(access.group[g].sectors, expected.group[g].sectors);
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::coalescer_test
