/// Patterns in the registers of a warp and of a thread block.
/// Source: 002, section III.C; preemption.md, sections 3.3 and 17.
#include "models/sm/context/register_compressor.hpp"

#include <gtest/gtest.h>

#include <random>

#include "models/sm/context/block_patterns.hpp"

namespace lockstep::register_compressor_test {
namespace {

using enum RegisterClass;

/// value(x, y) of the 32 threads of a warp in a block of `width` threads a row.
template <class Value>
LaneValues registers(unsigned width, unsigned warp, Value&& value) {
  LaneValues result;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned thread = 32 * warp + lane;
    result[lane] = static_cast<std::uint32_t>(value(thread % width, thread / width));
  }
  return result;
}

unsigned tx(unsigned x, unsigned) {
  return x;
}
unsigned ty(unsigned, unsigned y) {
  return y;
}
unsigned counter(unsigned, unsigned) {
  return 5;
}
unsigned index_of_16(unsigned x, unsigned y) {
  return 16 * y + x;
}

RegisterClass class_in(unsigned group, unsigned (*value)(unsigned, unsigned)) {
  return RegisterCompressor(group).pattern_of(registers(16, 0, value), 32).kind;
}

BlockRegisterClass class_in_block(unsigned (*value)(unsigned, unsigned)) {
  const RegisterCompressor compressor(16);
  std::vector<RegisterPattern> warps;
  for (unsigned warp = 0; warp < 8; ++warp)
    warps.push_back(compressor.pattern_of(registers(16, warp, value), 32));
  return block_class_of(warps, compressor.group_lanes());
}

TEST(RegisterCompressor, GroupsAreAsWideAsARowOfTheBlock) {
  const std::pair<std::uint32_t, unsigned> lanes_by_width[] = {
      {8, 8}, {16, 16}, {32, 32}, {64, 32}, {1024, 32}};
  for (const auto& [width, lanes] : lanes_by_width)
    EXPECT_EQ(RegisterCompressor(width).group_lanes(), lanes) << width;
}

TEST(RegisterCompressor, WidthsThatDoNotDivideAWarpOrAreTooSmallMakeOneGroup) {
  for (const std::uint32_t width : {1u, 2u, 4u, 7u, 12u, 24u, 31u})
    EXPECT_EQ(RegisterCompressor(width).group_lanes(), 32u) << width;
}

TEST(RegisterCompressor, IndicesOfA16By16BlockFollowPatternsInGroupsOf16) {
  EXPECT_EQ(class_in(16, tx), strided);
  EXPECT_EQ(class_in(16, ty), uniform);
  EXPECT_EQ(class_in(16, counter), uniform);
  EXPECT_EQ(class_in(16, index_of_16), strided);
}

TEST(RegisterCompressor, IndicesOfA16By16BlockAreHalfRandomInGroupsOf32) {
  EXPECT_EQ(class_in(32, tx), random);
  EXPECT_EQ(class_in(32, ty), random);
  EXPECT_EQ(class_in(32, counter), uniform);
  EXPECT_EQ(class_in(32, index_of_16), strided);
}

TEST(RegisterCompressor, IndicesOfA16By16BlockAreTwoLocalAndTwoGlobalPatterns) {
  EXPECT_EQ(class_in_block(tx), BlockRegisterClass::local_strided);
  EXPECT_EQ(class_in_block(ty), BlockRegisterClass::local_uniform);
  EXPECT_EQ(class_in_block(counter), BlockRegisterClass::global_uniform);
  EXPECT_EQ(class_in_block(index_of_16), BlockRegisterClass::global_strided);
}

TEST(RegisterCompressor, ARegisterThatIsRandomInOneWarpIsSoInTheBlock) {
  const RegisterCompressor compressor(32);
  LaneValues one = registers(32, 1, counter);
  one[7] = 4;
  const std::vector<RegisterPattern> warps{compressor.pattern_of(registers(32, 0, counter), 32),
                                           compressor.pattern_of(one, 32)};
  EXPECT_EQ(block_class_of(warps, 32), BlockRegisterClass::random);
}

TEST(RegisterCompressor, MoreBasesThanTheBufferHoldsAreLocal) {
  const RegisterCompressor compressor(8);
  std::vector<RegisterPattern> warps(8, compressor.pattern_of(registers(8, 0, counter), 32));
  EXPECT_EQ(block_class_of(warps, 8), BlockRegisterClass::global_uniform);
  warps.push_back(warps.front());
  EXPECT_EQ(block_class_of(warps, 8), BlockRegisterClass::local_uniform);
}

TEST(RegisterCompressor, AWordOrTwoOfEachGroupOrAllLanesAreStored) {
  const auto bytes = [](unsigned width, unsigned (*value)(unsigned, unsigned)) {
    return stored_bytes(RegisterCompressor(width).pattern_of(registers(16, 0, value), 32));
  };
  EXPECT_EQ(bytes(32, counter), 4u);
  EXPECT_EQ(bytes(32, index_of_16), 8u);
  EXPECT_EQ(bytes(32, tx), 128u);
  EXPECT_EQ(bytes(16, ty), 8u);
  EXPECT_EQ(bytes(16, tx), 16u);
  EXPECT_EQ(bytes(8, tx), 32u);
}

/// BP_1 of 002, Figures 6 and 8: 39.6 % of 1,664 bytes live, 47.4 % of that uniform, the rest
/// strided, in groups of 16: 64 bytes of a warp, by the paper's figure.
TEST(RegisterCompressor, TheAverageContextOfBackpropagationIs64Bytes) {
  const RegisterCompressor compressor(16);
  const auto bytes = [&](unsigned (*value)(unsigned, unsigned)) {
    return static_cast<double>(stored_bytes(compressor.pattern_of(registers(16, 0, value), 32)));
  };
  constexpr double live = 656.0 / 128;
  EXPECT_NEAR(live * (0.474 * bytes(counter) + 0.526 * bytes(tx)), 62.6, 0.05);
}

TEST(RegisterCompressor, LanesWithoutThreadsAreNoPartOfAPattern) {
  const RegisterCompressor compressor(16);
  LaneValues values = registers(16, 0, tx);
  values[16] = 77;
  values[31] = 12345;
  const RegisterPattern pattern = compressor.pattern_of(values, 16);
  EXPECT_EQ(pattern.kind, strided);
  EXPECT_EQ(pattern.groups, 1u);
  EXPECT_EQ(stored_bytes(pattern), 8u);
  EXPECT_EQ(compressor.pattern_of(values, 17).kind, strided) << "one lane follows any pattern";
  EXPECT_EQ(compressor.pattern_of(values, 18).kind, strided) << "two do, too";
  EXPECT_EQ(compressor.pattern_of(values, 32).kind, random);
}

/// Patterns of any base and stride, so that values wrap around, with single lanes disturbed.
TEST(RegisterCompressor, ValuesThatAreNotRandomComeBackAsTheyWere) {
  std::mt19937_64 numbers(1);
  unsigned patterns = 0;
  for (unsigned n = 0; n < 20000; ++n) {
    const RegisterCompressor compressor(8u << numbers() % 3);
    LaneValues values{};
    std::uint32_t base = 0, stride = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lane % compressor.group_lanes() == 0) {
        base = static_cast<std::uint32_t>(numbers());
        stride = n % 3 == 0 ? 0 : static_cast<std::uint32_t>(numbers());
      }
      values[lane] = base + lane * stride;
    }
    if (n % 5 == 0) values[numbers() % 32] ^= 1u << numbers() % 32;
    const auto threads = static_cast<unsigned>(1 + numbers() % 32);
    const RegisterPattern pattern = compressor.pattern_of(values, threads);
    if (pattern.kind == random) continue;
    ++patterns;
    const LaneValues back = compressor.values_of(pattern);
    for (unsigned lane = 0; lane < threads; ++lane) ASSERT_EQ(back[lane], values[lane]) << n;
  }
  EXPECT_GT(patterns, 15000u);
}

TEST(RegisterCompressor, StridesWrapAround) {
  const RegisterCompressor compressor(32);
  const LaneValues down =
      registers(32, 0, [](unsigned x, unsigned) { return 3u - x * 0x80000001u; });
  const RegisterPattern pattern = compressor.pattern_of(down, 32);
  EXPECT_EQ(pattern.kind, strided);
  EXPECT_EQ(compressor.values_of(pattern), down);
}

}  // namespace
}  // namespace lockstep::register_compressor_test
