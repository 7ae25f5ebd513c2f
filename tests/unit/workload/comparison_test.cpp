/// When two contents of a recording's buffer count as the same.
#include "models/workload/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "core/error/error.hpp"
#include "models/workload/recorded_program.hpp"
#include "models/workload/recording/recording.hpp"
#include "models/workload/recording/recording_writer.hpp"
#include "tests/harness_workload/sample_workload.hpp"

namespace lockstep::comparison_test {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Buffer bytes_with(std::vector<isa::InexactFloats> floats, std::uint64_t count = 64) {
  Buffer buffer;
  buffer.name = "b";
  buffer.type = isa::Type::u8;
  buffer.count = count;
  buffer.inexact = std::move(floats);
  return buffer;
}

template <class T>
std::optional<Difference> difference(const Buffer& buffer, const std::vector<T>& expected,
                                     const std::vector<T>& got, std::uint64_t offset = 0) {
  return find_difference(buffer, offset, bytes_of(expected), bytes_of(got));
}

const isa::InexactFloats two_singles{0, 2, isa::Type::f32, 1e-4, 10};

TEST(Comparison, InexactFloatsMayDifferByTheirMagnitude) {
  const Buffer buffer = bytes_with({two_singles});
  EXPECT_FALSE(difference<float>(buffer, {1, 1000}, {1.0009F, 1000.09F}));
  EXPECT_TRUE(difference<float>(buffer, {1, 1000}, {1.0011F, 1000}));
  EXPECT_TRUE(difference<float>(buffer, {1, 1000}, {1, 1000.11F}));
}

TEST(Comparison, WhatLiesBesideThemIsExact) {
  const auto found = difference<float>(bytes_with({two_singles}), {1, 2, 3}, {1, 2, 3.0000002F});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 8u);
  EXPECT_EQ(found->type, isa::Type::u8);
}

TEST(Comparison, NumbersAreShownNotBytes) {
  const auto found = difference<float>(bytes_with({two_singles}), {1, 2}, {1, 3});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 4u);
  EXPECT_EQ(found->type, isa::Type::f32);
  EXPECT_EQ(found->expected, "2 (0x40000000)");
  EXPECT_EQ(found->got, "3 (0x40400000)");
}

TEST(Comparison, SmallIntegersAmongFloatsAreExact) {
  const auto found = difference<std::uint32_t>(bytes_with({two_singles}), {5120, 1}, {5121, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 0u);
}

TEST(Comparison, InfinityAndNoNumberAreOnlyThemselves) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(difference<float>(bytes_with({two_singles}), {infinity}, {1e38F}));
  EXPECT_TRUE(difference<float>(bytes_with({two_singles}), {1}, {std::nanf("")}));
}

TEST(Comparison, PartsOfABuffer) {
  const Buffer buffer = bytes_with({{16, 2, isa::Type::f64, 1e-9, 1}});
  EXPECT_FALSE(difference<double>(buffer, {1, 2, 3}, {1, 2, 3 + 1e-9}, 8));
  EXPECT_TRUE(difference<double>(buffer, {1, 2, 3}, {1, 2 + 1e-9, 3}, 0));
  // Half of a float is compared as bytes.
  EXPECT_TRUE(difference<float>(buffer, {1}, {1.0000001F}, 20));
}

TEST(Comparison, TheBuffersOwnToleranceReplacesThatOfParts) {
  Buffer buffer = bytes_with({two_singles});
  buffer.tolerance = 0.5;
  EXPECT_FALSE(difference<float>(buffer, {100, 1}, {140, 5}));
  EXPECT_TRUE(difference<float>(buffer, {100, 1}, {160, 5}));
}

TEST(Comparison, TextIsReadAsItIsWritten) {
  const std::vector<isa::InexactFloats> floats{two_singles, {8, 3, isa::Type::f16, 0.01, 2.5}};
  EXPECT_EQ(inexact_text(floats),
            "[{offset: 0, count: 2, type: f32, tolerance: 0.0001, magnitude: 10}, "
            "{offset: 8, count: 3, type: f16, tolerance: 0.01, magnitude: 2.5}]");
  const Workload read = sample::read(
      "module: sample.ptx\nbuffers:\n  b: {type: u8, count: 14, "
      "memory: device, inexact: " +
      inexact_text(floats) + "}\nprogram: []\n");
  ASSERT_EQ(read.buffers[0].inexact.size(), 2u);
  EXPECT_EQ(inexact_text(read.buffers[0].inexact), inexact_text(floats));
}

TEST(Comparison, MistakesInTheText) {
  const auto mistake = [](const std::string& floats) {
    return sample::error_of(
        "module: sample.ptx\nbuffers:\n  b: {type: u8, count: 14, memory: "
        "device, inexact: [" +
        floats + "]}\nprogram: []\n");
  };
  EXPECT_THAT(mistake("{offset: 8, count: 2, type: f32, tolerance: 0, magnitude: 0}"),
              HasSubstr("reaches behind the end of buffer b"));
  EXPECT_THAT(mistake("{offset: 0, count: 2, type: u32, tolerance: 0, magnitude: 0}"),
              HasSubstr("is no type of floats"));
  EXPECT_THAT(mistake("{offset: 0, count: 2, type: f32, tolerance: -1, magnitude: 0}"),
              HasSubstr("is no size of an error"));
}

TEST(RecordedBuffer, OfFloatsIsKeptAsBytes) {
  Buffer buffer = bytes_with({}, 16);
  buffer.type = isa::Type::f32;
  buffer.tolerance = 1e-3;
  buffer.address = 0x1'0000'0000;
  become_recorded(buffer);
  EXPECT_EQ(buffer.type, isa::Type::u8);
  EXPECT_EQ(buffer.count, 64u);
  EXPECT_FALSE(difference<float>(buffer, {1000}, {1000.5F}));
  EXPECT_TRUE(difference<float>(buffer, {1000}, {1002}));
}

TEST(RecordedBuffer, NeedsFloatsForATolerance) {
  Buffer buffer = bytes_with({});
  buffer.address = 0x1'0000'0000;
  buffer.tolerance = 1e-3;
  EXPECT_THROW(become_recorded(buffer), UserError);
}

class RecordedCopy : public testing::Test {
 protected:
  RecordedCopy()
      : file_((std::filesystem::temp_directory_path() /
               ("comparison_" + std::to_string(::getpid()) + ".h5"))
                  .string()) {}
  ~RecordedCopy() override { std::filesystem::remove(file_); }

  std::string file_;
};

TEST_F(RecordedCopy, HasInexactFloatsOfItsOwn) {
  constexpr std::size_t count = 10'000;
  const std::vector<float> exact(count, 2), sums(count, 3);
  RecordingWriter writer(file_);
  const RecordedData first{writer.add_data(bytes_of(exact)), 4 * count};
  const RecordedData second{writer.add_data(bytes_of(sums)), 4 * count};
  writer.add_inexact(second.first_part,
                     std::array{isa::InexactFloats{4, count - 1, isa::Type::f32, 1e-3, 1}});
  writer.finish();
  Workload workload;
  workload.buffers.push_back(bytes_with({}, 8 * count));
  workload.recording = std::make_shared<const Recording>(file_, "w.yaml:1:1");
  const auto unexpected = [&](const RecordedData& data, std::size_t element, float by) {
    std::vector<float> got = data.first_part == first.first_part ? exact : sums;
    got[element] += by;
    // At an odd place of the buffer, so that pieces and elements would part.
    return find_unexpected(workload, 0, 6, data, bytes_of(got));
  };
  for (const std::size_t element :
       {std::size_t{1}, std::size_t{4095}, std::size_t{4096}, count - 1})
    EXPECT_EQ(unexpected(second, element, 1e-3F), std::nullopt);
  EXPECT_THAT(*unexpected(second, 4096, 1),
              HasSubstr("f32 at byte 16384 of 40000 is 4 (0x40800000), the program got 3 "
                        "(0x40400000) when it was recorded"));
  EXPECT_THAT(*unexpected(second, 0, 1e-3F), HasSubstr("byte 0 of 40000 is 0x"));
  EXPECT_NE(unexpected(first, 5, 1e-3F), std::nullopt);
}

}  // namespace
}  // namespace lockstep::comparison_test
