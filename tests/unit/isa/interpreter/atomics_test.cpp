#include <gtest/gtest.h>

#include <bit>

#include "models/isa/atomic.hpp"

namespace lockstep::isa::atomics_test {
namespace {

using A = AtomicOperation;

std::uint64_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TEST(Atomics, IntegersAddWithinTheirWidth) {
  EXPECT_EQ(apply(A::add, Type::u32, 0xffffffff, 2, 0), 1u);
  EXPECT_EQ(apply(A::add, Type::u64, 0xffffffff, 2, 0), 0x100000001u);
}

TEST(Atomics, MinimumAndMaximumFollowTheSign) {
  EXPECT_EQ(apply(A::min, Type::s32, 0xffffffff, 1, 0), 0xffffffffu);
  EXPECT_EQ(apply(A::min, Type::u32, 0xffffffff, 1, 0), 1u);
  EXPECT_EQ(apply(A::max, Type::s64, ~0ull, 1, 0), 1u);
  EXPECT_EQ(apply(A::max, Type::u64, ~0ull, 1, 0), ~0ull);
}

TEST(Atomics, IncrementWrapsAtItsBound) {
  EXPECT_EQ(apply(A::inc, Type::u32, 4, 5, 0), 5u);
  EXPECT_EQ(apply(A::inc, Type::u32, 5, 5, 0), 0u);
  EXPECT_EQ(apply(A::dec, Type::u32, 0, 5, 0), 5u);
  EXPECT_EQ(apply(A::dec, Type::u32, 9, 5, 0), 5u);
  EXPECT_EQ(apply(A::dec, Type::u32, 3, 5, 0), 2u);
}

TEST(Atomics, CompareAndSwapLooksAtItsWidthOnly) {
  EXPECT_EQ(apply(A::cas, Type::b16, 7, 0x10007, 9), 9u);
  EXPECT_EQ(apply(A::cas, Type::b32, 7, 8, 9), 7u);
}

TEST(Atomics, FloatsAddRoundedToNearest) {
  EXPECT_EQ(apply(A::add, Type::f32, bits(1.5f), bits(2.25f), 0), bits(3.75f));
  EXPECT_EQ(apply(A::add, Type::f32, bits(1.0f / 0.0f), bits(-1.0f / 0.0f), 0), 0x7fffffffu);
  EXPECT_EQ(apply(A::add, Type::f64, std::bit_cast<std::uint64_t>(0.1),
                  std::bit_cast<std::uint64_t>(0.2), 0),
            std::bit_cast<std::uint64_t>(0.1 + 0.2));
}

TEST(Atomics, HalvesAddWithOneRounding) {
  EXPECT_EQ(apply(A::add, Type::f16, 0x3c00, 0x3c00, 0), 0x4000u);  // 1 + 1
  EXPECT_EQ(apply(A::add, Type::f16, 0x6800, 0x3c00, 0), 0x6800u);  // 2048 + 1, tie to even
  EXPECT_EQ(apply(A::add, Type::f16, 0x6800, 0x4200, 0), 0x6802u);  // 2048 + 3, tie to even
  EXPECT_EQ(apply(A::add, Type::f16, 0x0001, 0x0001, 0), 0x0002u);  // subnormals
  EXPECT_EQ(apply(A::add, Type::f16, 0x7bff, 0x7bff, 0), 0x7c00u);  // overflow
  EXPECT_EQ(apply(A::add, Type::f16x2, 0x3c004000, 0x3c004000, 0), 0x40004400u);
  EXPECT_EQ(apply(A::add, Type::bf16, 0x3f80, 0x3f80, 0), 0x4000u);
  EXPECT_EQ(apply(A::add, Type::bf16x2, 0x3f803f80, 0xbf803f80, 0), 0x00004000u);
}

}  // namespace
}  // namespace lockstep::isa::atomics_test
