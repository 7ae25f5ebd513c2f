#include "models/workload/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace lockstep::element_test {
namespace {

using isa::Type;

std::uint64_t bits(Type type, double value) {
  std::uint64_t raw = 0;
  store_element(type, value, reinterpret_cast<std::byte*>(&raw));
  return raw;
}

double from_bits(Type type, std::uint64_t raw) {
  return load_element(type, reinterpret_cast<const std::byte*>(&raw));
}

TEST(Element, HalfRoundsToNearestEven) {
  EXPECT_EQ(bits(Type::f16, 1.0), 0x3c00u);
  EXPECT_EQ(bits(Type::f16, 1.0 + 0x1p-11), 0x3c00u);            // a tie, down to even
  EXPECT_EQ(bits(Type::f16, 1.0 + 3 * 0x1p-11), 0x3c02u);        // a tie, up to even
  EXPECT_EQ(bits(Type::f16, 1.0 + 0x1p-11 + 0x1p-30), 0x3c01u);  // just above the tie
}

TEST(Element, HalfOverflowsToInfinityFromTheTieOn) {
  EXPECT_EQ(bits(Type::f16, 65504), 0x7bffu);
  EXPECT_EQ(bits(Type::f16, 65519.999), 0x7bffu);
  EXPECT_EQ(bits(Type::f16, 65520), 0x7c00u);
  EXPECT_EQ(bits(Type::f16, -1e9), 0xfc00u);
}

TEST(Element, HalfKeepsSubnormals) {
  EXPECT_EQ(bits(Type::f16, 0x1p-24), 0x0001u);
  EXPECT_EQ(bits(Type::f16, 0x1p-25), 0x0000u);  // a tie, down to even
  EXPECT_EQ(bits(Type::f16, 3 * 0x1p-25), 0x0002u);
  EXPECT_EQ(bits(Type::f16, 0x1p-14 - 0x1p-26), 0x0400u);  // rounds up into the normal numbers
  EXPECT_EQ(bits(Type::f16, -0x1p-24), 0x8001u);
}

TEST(Element, HalfKeepsSignOfZeroAndNan) {
  EXPECT_EQ(bits(Type::f16, -0.0), 0x8000u);
  EXPECT_EQ(bits(Type::f16, NAN), 0x7fffu);
}

TEST(Element, EveryHalfSurvivesARoundTrip) {
  for (std::uint64_t raw = 0; raw < 0x10000; ++raw) {
    if ((raw & 0x7c00) == 0x7c00 && (raw & 0x3ff) != 0) continue;  // NaN
    ASSERT_EQ(bits(Type::f16, from_bits(Type::f16, raw)), raw);
  }
}

TEST(Element, BfloatRoundsToNearestEven) {
  EXPECT_EQ(bits(Type::bf16, 1.0 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(bits(Type::bf16, 1.0 + 3 * 0x1p-8), 0x3f82u);
  EXPECT_EQ(bits(Type::bf16, 1.0 + 0x1p-8 + 0x1p-40), 0x3f81u);  // would be a tie after float
}

TEST(Element, BfloatOverflowsToInfinity) {
  EXPECT_EQ(bits(Type::bf16, 1e39), 0x7f80u);
  EXPECT_EQ(bits(Type::bf16, 3.4e38), 0x7f80u);
  EXPECT_EQ(bits(Type::bf16, 3.38e38), 0x7f7eu);
}

TEST(Element, EveryBfloatSurvivesARoundTrip) {
  for (std::uint64_t raw = 0; raw < 0x10000; ++raw) {
    if ((raw & 0x7f80) == 0x7f80 && (raw & 0x7f) != 0) continue;  // NaN
    ASSERT_EQ(bits(Type::bf16, from_bits(Type::bf16, raw)), raw);
  }
}

TEST(Element, IntegersTruncateAndWrap) {
  EXPECT_EQ(bits(Type::u8, 257), 1u);
  EXPECT_EQ(bits(Type::s32, -1), 0xffffffffu);
  EXPECT_EQ(bits(Type::s16, -2.9), 0xfffeu);
  EXPECT_EQ(bits(Type::u64, 0x1p63), 0x8000000000000000u);
}

TEST(Element, SignedIntegersLoadWithSign) {
  EXPECT_EQ(from_bits(Type::s8, 0xff), -1);
  EXPECT_EQ(from_bits(Type::u8, 0xff), 255);
  EXPECT_EQ(from_bits(Type::s64, ~std::uint64_t{0}), -1);
}

TEST(Element, StoresOnlyItsOwnBytes) {
  std::uint64_t raw = ~std::uint64_t{0};
  store_element(Type::u16, 0, reinterpret_cast<std::byte*>(&raw));
  EXPECT_EQ(raw, 0xffffffffffff0000u);
}

}  // namespace
}  // namespace lockstep::element_test
