/// Which bytes a tile moves, against a loop over the elements of its box.
#include "models/isa/bulk/tensor_tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/unit/isa/bulk/random_tile.hpp"

namespace lockstep::isa::tensor_tile_test {
namespace {

constexpr std::uint64_t base = 0x1'0000'0000;

/// What stands in shared memory after a load: by place, the global address; 0: fill.
std::map<std::uint32_t, std::uint64_t> sources_of(const TensorTile& tile, std::uint64_t unit) {
  std::map<std::uint32_t, std::uint64_t> sources;
  for (std::uint32_t at = 0; at < tile.bytes();) {
    const TileRun run = tile.run_from(at, unit);
    EXPECT_GT(run.bytes, 0u);
    EXPECT_EQ(run.position, at);
    if (run.inside) {
      EXPECT_LE(run.global % unit + run.bytes, unit);
    }
    tile.for_each_piece(run, [&](std::uint32_t offset, std::uint32_t place, std::uint32_t bytes) {
      EXPECT_LE(place % 16 + bytes, 16u);
      for (std::uint32_t b = 0; b < bytes; ++b)
        EXPECT_TRUE(sources.emplace(place + b, run.inside ? run.global + offset + b : 0).second);
    });
    at += run.bytes;
  }
  return sources;
}

TEST(TensorTiles, MoveWhatALoopOverTheirElementsMoves) {
  std::mt19937 random(3);
  for (unsigned count = 0; count < 3000; ++count) {
    const RandomTile given = random_tile(random, base);
    const TensorTile tile(given.map, given.first, given.shared);
    const unsigned element = bytes_of(given.map.type);
    std::map<std::uint32_t, std::uint64_t> expected;
    std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
    for_each_element(given, [&](std::uint64_t address, std::uint32_t place) {
      for (unsigned b = 0; b < element; ++b) expected[place + b] = address == 0 ? 0 : address + b;
      if (address == 0) return;
      lowest = std::min(lowest, address);
      highest = std::max(highest, address + element);
    });
    ASSERT_EQ(tile.bytes(), expected.size()) << count;
    const std::uint64_t unit = count % 3 == 0 ? 32 : count % 3 == 1 ? 128 : std::uint64_t{1} << 32;
    ASSERT_EQ(sources_of(tile, unit), expected) << count;
    const TensorTile::Extent extent = tile.extent();
    ASSERT_EQ(extent.bytes, highest == 0 ? 0 : highest - lowest) << count;
    ASSERT_EQ(extent.first, highest == 0 ? 0 : lowest) << count;
  }
}

TEST(TensorTiles, AreFilledWithZerosOrWithNothingThatIsANumber) {
  TensorMap map;
  map.address = base;
  map.type = TensorType::f32;
  map.size[0] = 6;
  map.box[0] = 8;
  for (const bool fills_nan : {false, true}) {
    map.fills_nan = fills_nan;
    const TensorTile tile(map, {}, 128);
    std::vector<float> shared(64, 1.0f);
    tile.fill(tile.run_from(24, 128), reinterpret_cast<std::byte*>(shared.data()));
    for (unsigned i = 0; i < 64; ++i) {
      const bool is_filled = i >= 38 && i < 40;
      const bool is_nan = shared[i] != shared[i];
      EXPECT_EQ(is_nan, is_filled && fills_nan) << i;
      EXPECT_EQ(is_nan ? 0.0f : shared[i], is_filled ? 0.0f : 1.0f) << i;
    }
  }
}

}  // namespace
}  // namespace lockstep::isa::tensor_tile_test
