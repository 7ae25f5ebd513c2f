#include "models/reference/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error/error.hpp"
#include "models/workload/element.hpp"

namespace lockstep::check_test {
namespace {

using testing::HasSubstr;

/// One buffer `b` in what was expected and what the machine left; `tenant` is its owner.
struct Comparison {
  isa::Type type = isa::Type::f32;
  MemoryKind memory = MemoryKind::managed;
  double tolerance = 0;
  bool check = true;

  std::vector<std::byte> bytes(const std::vector<double>& values) const {
    const std::size_t size = isa::bytes_of(type);
    std::vector<std::byte> result(values.size() * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
      store_element(type, values[i], result.data() + i * size);
    }
    return result;
  }

  std::optional<Mismatch> images(std::size_t count, const BufferImage& expected,
                                 const BufferImage& got) const {
    Workload workload;
    Buffer buffer;
    buffer.name = "b";
    buffer.type = type;
    buffer.count = count;
    buffer.memory = memory;
    buffer.tolerance = tolerance;
    buffer.check = check;
    workload.buffers.push_back(buffer);
    return find_mismatch("tenant", workload, {expected}, {got});
  }

  std::optional<Mismatch> operator()(const std::vector<double>& expected,
                                     const std::vector<double>& got) const {
    const auto a = bytes(expected), b = bytes(got);
    return images(expected.size(), {a, std::nullopt}, {b, std::nullopt});
  }
};

TEST(Check, EqualBuffersPass) {
  EXPECT_FALSE(Comparison{}({1, 2, 3}, {1, 2, 3}));
}

/// Of so many bytes that are never looked at.
ImageBytes untouched(std::uint64_t size, Known known) {
  return {size, [known](std::uint64_t, std::uint64_t) { return known; },
          [](std::uint64_t, std::span<std::byte>) -> std::span<const std::byte> {
            throw std::logic_error("looked at");
          }};
}

TEST(Check, WhatIsKnownToBeAsItBeganIsNotLookedAt) {
  const std::uint64_t count = std::uint64_t{1} << 33;
  for (const Known known : {Known::zeros, Known::initial}) {
    const ImageBytes image = untouched(4 * count, known);
    EXPECT_FALSE(Comparison{}.images(count, {image, std::nullopt}, {image, std::nullopt}));
  }
}

TEST(Check, DigestsOfZerosNeedNoLook) {
  const std::vector<std::byte> zeros(300'001);
  EXPECT_EQ(digest_of(untouched(zeros.size(), Known::zeros)), digest_of(ImageBytes(zeros)));
  const std::vector<std::byte> text{std::byte{'a'}};
  EXPECT_EQ(digest_of(ImageBytes(text)), 0xaf63dc4c8601ec8cu) << "FNV-1a";
}

TEST(Check, ElementsOfFarPiecesHaveTheirNumbers) {
  std::vector<double> expected(1'000'000, 1), got = expected;
  got[777'777] = 2;
  const auto mismatch = Comparison{}(expected, got);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 777'777u);
}

TEST(Check, FirstDifferingElementIsReported) {
  const auto mismatch = Comparison{.type = isa::Type::s32}({1, -2, 3}, {1, 7, 8});
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->text(), "tenant tenant, buffer b (host copy), element 1: expected -2, got 7");
}

TEST(Check, FloatsAreReportedWithTheirBits) {
  const auto mismatch = Comparison{}({1}, {1 + 0x1p-23});
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->expected, "1 (0x3f800000)");
  EXPECT_EQ(mismatch->got, "1.0000001192092896 (0x3f800001)");
}

TEST(Check, ToleranceIsRelativeAboveOne) {
  const Comparison loose{.tolerance = 1e-3};
  EXPECT_FALSE(loose({1000}, {1000.9}));
  EXPECT_TRUE(loose({1000}, {1001.1}));
}

TEST(Check, ToleranceIsAbsoluteBelowOne) {
  const Comparison loose{.tolerance = 1e-3};
  EXPECT_FALSE(loose({1e-6}, {5e-4}));
  EXPECT_TRUE(loose({1e-6}, {2e-3}));
}

TEST(Check, IntegersKnowNoTolerance) {
  EXPECT_TRUE((Comparison{.type = isa::Type::u32, .tolerance = 1e-3}({100000}, {100001})));
}

TEST(Check, SameNanPasses) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Comparison{}({nan}, {nan}));
  EXPECT_TRUE((Comparison{.tolerance = 1}({nan}, {1})));
  EXPECT_TRUE((Comparison{.tolerance = 1}({1}, {nan})));
}

TEST(Check, OtherBitsOfNanAreADifference) {
  const std::uint32_t expected = 0x7fffffff, got = 0x7fc00000;
  const Comparison exact;
  EXPECT_TRUE(exact.images(1, {std::as_bytes(std::span(&expected, 1)), std::nullopt},
                           {std::as_bytes(std::span(&got, 1)), std::nullopt}));
}

TEST(Check, InfinityIsNotNearAnyNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE((Comparison{.tolerance = 1e-3}({infinity}, {1e38})));
  EXPECT_TRUE((Comparison{.tolerance = 1e-3}({1e38}, {infinity})));
  EXPECT_FALSE((Comparison{.tolerance = 1e-3}({infinity}, {infinity})));
}

TEST(Check, SignOfZeroIsADifferenceWithoutTolerance) {
  EXPECT_TRUE(Comparison{}({0.0}, {-0.0}));
  EXPECT_FALSE((Comparison{.tolerance = 1e-9}({0.0}, {-0.0})));
}

TEST(Check, UncheckedBuffersAreSkipped) {
  EXPECT_FALSE((Comparison{.check = false}({1}, {2})));
}

TEST(Check, BothCopiesOfADeviceBufferAreCompared) {
  const Comparison device{.memory = MemoryKind::device};
  const auto one = device.bytes({1}), two = device.bytes({2});
  EXPECT_FALSE(device.images(1, {one, two}, {one, two}));
  const auto on_host = device.images(1, {one, two}, {two, two});
  ASSERT_TRUE(on_host);
  EXPECT_FALSE(on_host->on_device);
  const auto on_gpu = device.images(1, {one, two}, {one, one});
  ASSERT_TRUE(on_gpu);
  EXPECT_TRUE(on_gpu->on_device);
  EXPECT_THAT(on_gpu->text(), HasSubstr("(GPU copy)"));
}

TEST(Check, ManagedBufferThatEndedOnTheGpuIsReadThere) {
  const Comparison managed;
  const auto stale = managed.bytes({1}), fresh = managed.bytes({2});
  EXPECT_FALSE(managed.images(1, {fresh, std::nullopt}, {stale, fresh}));
  EXPECT_TRUE(managed.images(1, {fresh, std::nullopt}, {fresh, stale}));
}

TEST(Check, MissingGpuCopyOfADeviceBufferIsABug) {
  const Comparison device{.memory = MemoryKind::device};
  const auto one = device.bytes({1});
  EXPECT_THROW(device.images(1, {one, one}, {one, std::nullopt}), InternalError);
}

}  // namespace
}  // namespace lockstep::check_test
