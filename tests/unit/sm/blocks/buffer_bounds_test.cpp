#include "models/sm/blocks/buffer_bounds.hpp"

#include <gtest/gtest.h>

#include "core/checkpoint/packed.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t base = 0x1'0000'0000;

/// Three buffers of a large page, the first two side by side, and one far away.
std::vector<BufferBound> some() {
  return {{base, 512, 0, 0},
          {base + 512, 100, 1, 0},
          {base + 1024, 64, 2, 0},
          {base + (1 << 30), 4096, 3, 0}};
}

BufferBounds bounds_of(const std::vector<BufferBound>& buffers) {
  return BufferBounds(std::as_bytes(std::span(buffers)));
}

std::vector<std::byte> parameters(std::initializer_list<std::uint64_t> words) {
  const std::vector<std::uint64_t> all(words);
  const auto bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

constexpr isa::PointerOrigins anywhere = isa::from_anywhere;

TEST(BufferBounds, WithoutBuffersEveryAccessIsGood) {
  const BufferBounds none;
  EXPECT_TRUE(none.holds(0, 0, 128));
  EXPECT_TRUE(none.holds(7, ~std::uint64_t{0} - 255, 128));
}

TEST(BufferBounds, KnowTheBufferThatAnInstructionUsedLast) {
  BufferBounds bounds = bounds_of(some());
  EXPECT_FALSE(bounds.holds(3, base, 4));
  EXPECT_FALSE(bounds.find(3, base + 508, 4, anywhere, {}));
  EXPECT_TRUE(bounds.holds(3, base, 512));
  EXPECT_FALSE(bounds.holds(3, base, 513));
  EXPECT_FALSE(bounds.holds(3, base - 4, 4));
  EXPECT_FALSE(bounds.holds(3, base - 4, 128)) << "the sum of offset and size wraps";
  EXPECT_FALSE(bounds.holds(4, base, 4)) << "another instruction";
}

TEST(BufferBounds, TellTheFirstByteBehindABuffer) {
  BufferBounds bounds = bounds_of(some());
  EXPECT_FALSE(bounds.find(0, base + 512 + 96, 4, anywhere, {}));
  const auto outside = bounds.find(0, base + 512 + 97, 4, anywhere, {});
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->nearest->buffer, 1u);
  EXPECT_FALSE(outside->is_before);
  EXPECT_EQ(outside->hit, nullptr);
}

TEST(BufferBounds, NameTheNearestBuffer) {
  BufferBounds bounds = bounds_of(some());
  const auto before = bounds.find(0, base + 1020, 4, anywhere, {});
  ASSERT_TRUE(before);
  EXPECT_EQ(before->nearest->buffer, 2u);
  EXPECT_TRUE(before->is_before);
}

TEST(BufferBounds, TellAnAccessThatOnlyBeginsInABuffer) {
  BufferBounds bounds = bounds_of(some());
  const auto outside = bounds.find(0, base + 512 + 96, 8, anywhere, {});
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->nearest->buffer, 1u);
  EXPECT_FALSE(outside->is_before);
}

TEST(BufferBounds, LeaveWhatIsFarFromAllToTranslation) {
  BufferBounds bounds = bounds_of(some());
  EXPECT_FALSE(bounds.find(0, base + (std::uint64_t{2} << 20), 4, anywhere, {}));
  EXPECT_FALSE(bounds.find(0, 64, 4, anywhere, {}));
}

TEST(BufferBounds, ANeighbourIsNotTheBufferThatThePointerPointsTo) {
  BufferBounds bounds = bounds_of(some());
  const auto words = parameters({base, 17, base + 512});
  const auto outside = bounds.find(0, base + 512, 4, 1, words);
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->nearest->buffer, 0u);
  ASSERT_NE(outside->hit, nullptr);
  EXPECT_EQ(outside->hit->buffer, 1u);
}

TEST(BufferBounds, ANeighbourIsGoodIfAnyOriginPointsThereOrNoneIsKnown) {
  BufferBounds bounds = bounds_of(some());
  const auto words = parameters({base, 17, base + 512});
  EXPECT_FALSE(bounds.find(0, base + 512, 4, 1 | 4, words)) << "or from the other";
  EXPECT_FALSE(bounds.find(1, base + 512, 4, 2, words)) << "a number";
  EXPECT_FALSE(bounds.find(2, base + 512, 4, 1 | anywhere, words));
  EXPECT_FALSE(bounds.find(3, base + 512, 4, 1 | isa::from_variables, words));
}

TEST(BufferBounds, ACheckpointKeepsThem) {
  BufferBounds bounds = bounds_of(some()), back;
  back = unpacked<BufferBounds>(packed(bounds));
  EXPECT_FALSE(back.holds(0, base, 4));
  EXPECT_FALSE(back.find(0, base, 4, anywhere, {}));
  EXPECT_TRUE(back.find(0, base + 1020, 4, anywhere, {}));
}

}  // namespace
}  // namespace lockstep
