/// The 128 bytes of a tensor map, and what is no map.
/// Source: modern-isa.md, section 3.3.
#include "models/isa/bulk/tensor_map.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/isa/bulk/random_tile.hpp"

namespace lockstep::isa::tensor_map_test {
namespace {

using Words = std::array<std::uint32_t, 32>;

Words words_of(const TensorMap& map) {
  const TensorMap::Bytes bytes = encode(map);
  Words words;
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

TensorMap::Bytes bytes_of_words(const Words& words) {
  TensorMap::Bytes bytes;
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

/// f16, 16 x 16, rows of 32 bytes, boxes of 16 x 8.
TensorMap small_map() {
  TensorMap map;
  map.address = 0x7f00'1234'5670;
  map.rank = 2;
  map.type = TensorType::f16;
  map.size = {16, 16, 1, 1, 1};
  map.stride[1] = 32;
  map.box = {16, 8, 1, 1, 1};
  return map;
}

TEST(TensorMapBytes, AreThoseOfADriver) {
  Words expected{};
  expected[0] = 0x12345670;
  expected[1] = 0x7f00;
  expected[2] = 0x310;
  expected[3] = 2;
  expected[8] = expected[9] = 15;
  expected[13] = 0x0f000000;
  expected[14] = 7;
  expected[16] = 0x100;
  expected[18] = 0x10;
  EXPECT_EQ(words_of(small_map()), expected);
  TensorMap wide_rows = small_map();
  wide_rows.swizzle = Swizzle::bytes_128;
  expected[2] = 0x6310;
  expected[18] = 0x400;
  EXPECT_EQ(words_of(wide_rows), expected);
}

TEST(TensorMapBytes, SayEverythingThatAMapHas) {
  std::mt19937 random(1);
  for (unsigned run = 0; run < 20'000; ++run) {
    TensorMap map = random_tile(random, std::uint64_t{random()} << 16).map;
    if (run % 2 == 0)
      for (unsigned d = 0; d < map.rank; ++d) {
        map.size[d] = 1 + (std::uint64_t{random()} >> random() % 32);
        if (d > 0) map.stride[d] = (std::uint64_t{random()} * 16) >> random() % 20 & ~15ull;
      }
    ASSERT_EQ(mistake_in_fields(map), "") << run;
    ASSERT_EQ(decode(encode(map)), map) << run;
    ASSERT_EQ(mistake_in_bytes(encode(map)), "") << run;
    ASSERT_EQ(encode(decode(encode(map))), encode(map)) << run;
  }
}

TEST(TensorMapBytes, OtherBytesAreNoMap) {
  EXPECT_EQ(mistake_in_bytes({}), "these bytes are no tensor map");
  std::mt19937 random(2);
  unsigned good = 0;
  for (unsigned run = 0; run < 1000; ++run) {
    Words words;
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
    good += mistake_in_bytes(bytes_of_words(words)).empty();
  }
  EXPECT_EQ(good, 0u);
  for (const unsigned unused : {7u, 15u, 17u, 19u, 31u}) {
    Words words = words_of(small_map());
    words[unused] = 1;
    EXPECT_EQ(mistake_in_bytes(bytes_of_words(words)), "these bytes are no tensor map") << unused;
  }
}

TEST(TensorMapMistakes, AreToldByName) {
  const auto expect = [](auto&& change, const std::string& part) {
    TensorMap map = small_map();
    change(map);
    const std::string text = mistake_in_fields(map) + not_modelled(map);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect([](TensorMap& map) { map.rank = 6; }, "it has 6 dimensions, not 1 to 5");
  expect([](TensorMap& map) { map.address += 8; }, "at an address that is no multiple of 16");
  expect([](TensorMap& map) { map.box[1] = 257; }, "257 elements in dimension 1, not 1 to 256");
  expect([](TensorMap& map) { map.box[0] = 0; }, "0 elements in dimension 0, not 1 to 256");
  expect([](TensorMap& map) { map.size[1] = 0; }, "it has 0 elements in dimension 1");
  expect([](TensorMap& map) { map.step[1] = 9; }, "element stride in dimension 1 is 9, not 1 to 8");
  expect([](TensorMap& map) { map.stride[1] = 40; }, "stride in dimension 1 is 40 bytes");
  expect([](TensorMap& map) { map.stride[1] = 1ull << 36; }, "no multiple of 16 below 2^36");
  expect([](TensorMap& map) { map.box[0] = 4; }, "rows of its box have 8 bytes");
  expect([](TensorMap& map) { map.is_im2col = true; }, "im2col mode is not modelled");
  expect([](TensorMap& map) { map.interleave = 1; }, "interleaved layouts are not modelled");
  expect([](TensorMap& map) { map.type = TensorType::f32_flushed; }, "flush subnormals");
  expect(
      [](TensorMap& map) {
        map.type = TensorType::u16;
        map.fills_nan = true;
      },
      "only floats are filled with NaN");
  expect(
      [](TensorMap& map) {
        map.box[0] = 64;
        map.swizzle = Swizzle::bytes_64;
      },
      "have 128 bytes, more than its swizzle of 64 bytes");
  expect([](TensorMap& map) { map.swizzle = Swizzle::bytes_64; },
         "have 32 bytes, fewer than its swizzle of 64 bytes");
  expect(
      [](TensorMap& map) {
        map.rank = 3;
        map.box = {256, 256, 256, 1, 1};
      },
      "more than shared memory has");
}

}  // namespace
}  // namespace lockstep::isa::tensor_map_test
