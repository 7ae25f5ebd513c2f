/// Textures of workload files: the header that is made, and mistakes.
#include "models/workload/texture_initializer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "models/workload/content/content.hpp"
#include "models/workload/workload.hpp"
#include "tests/harness_workload/sample_workload.hpp"

namespace lockstep::texture_initializer_test {
namespace {

using sample::error_of;
using sample::read;
using testing::AllOf;
using testing::HasSubstr;

/// Texels of a type, 1,024 of them, and a buffer with the header; `texture` behind the buffer's
/// name.
std::string with_texture(const std::string& type, const std::string& texture) {
  return "module: sample.ptx\n"
         "parameters: {n: 16}\n"
         "buffers:\n"
         "  texels: {type: " +
         type +
         ", count: 1024, memory: device, address: 0x100000000}\n"
         "  t: {type: u8, count: 80, memory: device, address: 0x100200000,\n"
         "      init: {texture: {buffer: texels" +
         texture + "}}}\nprogram: []\n";
}

isa::TextureHeader header_of(const std::string& type, const std::string& texture) {
  return read(with_texture(type, texture)).buffers[1].initial.texture;
}

TEST(TextureInitializer, WhatIsNotGivenIsARowOfOneTexel) {
  const isa::TextureHeader header = header_of("f32", "");
  EXPECT_EQ(header.address, 0x100000000u);
  EXPECT_EQ(header.width, 1u);
  EXPECT_EQ(header.height, 1u);
  EXPECT_EQ(header.depth, 1u);
  EXPECT_EQ(header.pitch, 4u);
  // Four bytes, one channel, floating point; clamp in all dimensions.
  EXPECT_EQ(header.flags, 2u | 2u << 4 | 1u << 10 | 1u << 12 | 1u << 14);
}

TEST(TextureInitializer, ExtentsAreFormulas) {
  const isa::TextureHeader header = header_of(
      "i16",
      ", width: n, height: n / 4, depth: 2, channels: 2, pitch: 2 * n * 2 + 8, "
      "filter: linear, fractions: true, normalized: true, address: [wrap, mirror, border]");
  EXPECT_EQ(header.width, 16u);
  EXPECT_EQ(header.height, 4u);
  EXPECT_EQ(header.rows, 4u);
  EXPECT_EQ(header.depth, 2u);
  EXPECT_EQ(header.pitch, 72u);
  EXPECT_EQ(header.flags,
            1u | 1u << 2 | 1u << 4 | 1u << 6 | 1u << 7 | 1u << 8 | 0u << 10 | 2u << 12 | 3u << 14);
}

TEST(TextureInitializer, TheBufferHoldsTheHeaderAndThenZeros) {
  const Workload workload = read(with_texture("u8", ", width: 5, height: 3"));
  std::vector<std::byte> bytes(80, std::byte{1});
  make_content(workload.buffers[1])->read(0, bytes);
  isa::TextureHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header.width, 5u);
  EXPECT_EQ(header.height, 3u);
  EXPECT_EQ(bytes[64], std::byte{0});
  make_content(workload.buffers[1])->read(8, std::span(bytes).first(4));
  EXPECT_EQ(bytes[0], std::byte{5});
}

TEST(TextureInitializer, MistakesAreNamed) {
  const auto error = [](const std::string& type, const std::string& texture) {
    return error_of(with_texture(type, texture));
  };
  EXPECT_THAT(error("f64", ""), HasSubstr("channels of f64 are not there"));
  EXPECT_THAT(error("u8", ", channels: 3"), HasSubstr("one, two or four channels"));
  EXPECT_THAT(error("u8", ", width: 33, height: 32"),
              AllOf(HasSubstr("the texture takes 1056 bytes"), HasSubstr("has 1024")));
  EXPECT_THAT(error("u32", ", filter: linear, fractions: true"),
              HasSubstr("integers are not filtered"));
  EXPECT_THAT(error("f32", ", width: 4, pitch: 18"), HasSubstr("do not fit the pitch"));
  EXPECT_THAT(error("f32", ", wdith: 4"), HasSubstr("wdith"));
  EXPECT_THAT(error("f32", ", address: []"), HasSubstr("one to three dimensions"));
}

}  // namespace
}  // namespace lockstep::texture_initializer_test
