/// Copies of tiles as they are interpreted, and mistakes with them.
#include <cstring>
#include <functional>

#include "core/error/error.hpp"
#include "models/isa/bulk/tensor_map.hpp"
#include "tests/unit/isa/bulk/random_tile.hpp"
#include "tests/unit/isa/bulk/tile_kernels.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::tensor_copies_test {
namespace {

LOCKSTEP_BOTH_FORMS(InterpretedTensorCopies);

std::vector<std::uint8_t> noise(std::mt19937& random, std::size_t bytes) {
  std::vector<std::uint8_t> values(bytes);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random());
  return values;
}

/// What shared memory has after the tile came, which was `before`.
std::vector<std::uint8_t> loaded(const RandomTile& tile, std::uint64_t from,
                                 const std::vector<std::uint8_t>& global) {
  std::vector<std::uint8_t> shared(RandomTile::most_shared, tile_background);
  const unsigned element = bytes_of(tile.map.type);
  for_each_element(tile, [&](std::uint64_t address, std::uint32_t place) {
    for (unsigned b = 0; b < element; ++b)
      shared[place + b] = address != 0 ? global[address + b - from] : tile.map.fills_nan ? 0xff : 0;
  });
  return shared;
}

TEST_P(InterpretedTensorCopies, BringWhatALoopBringsAndPutItBack) {
  std::mt19937 random(4);
  constexpr std::size_t room = RandomTile::most_global + 256;
  for (unsigned rank = 1; rank <= 5; ++rank) {
    for (const MapSpace space : {MapSpace::parameter, MapSpace::global}) {
      IsaBench bench(tile_kernel(rank, space), GetParam());
      const std::uint64_t in = bench.allocate(room), out = bench.allocate(room);
      const std::uint64_t image = bench.allocate(RandomTile::most_shared);
      const std::uint64_t maps = bench.allocate(256);
      for (unsigned run = 0; run < 40; ++run) {
        RandomTile tile = random_tile(random, in);
        while (tile.map.rank != rank) tile = random_tile(random, in);
        const auto global = noise(random, room);
        const auto before = noise(random, room);
        bench.memory().write(in, global.data(), room);
        bench.memory().write(out, before.data(), room);
        TensorMap back = tile.map;
        back.address = out + (tile.map.address - in);
        const TileArguments arguments(tile, back);
        bench.memory().write(maps, arguments.maps.data(), 256);
        bench.run("k", {1, 1, 1}, {32, 1, 1}, arguments.maps, maps, image, arguments.first,
                  tile.shared, static_cast<std::uint32_t>(tile.map.box_bytes()));
        const auto shared = loaded(tile, in, global);
        ASSERT_EQ(bench.values<std::uint8_t>(image, shared.size()), shared) << rank << " " << run;
        std::vector<std::uint8_t> expected = before;
        const unsigned element = bytes_of(tile.map.type);
        for_each_element(tile, [&](std::uint64_t address, std::uint32_t) {
          if (address != 0) std::memcpy(&expected[address - in], &global[address - in], element);
        });
        ASSERT_EQ(bench.values<std::uint8_t>(out, room), expected) << rank << " " << run;
      }
    }
  }
}

std::string mistake_of(const std::function<void(TileArguments&, std::uint32_t&)>& change,
                       bool lowered, MapSpace space = MapSpace::parameter) {
  IsaBench bench(tile_kernel(2, space), lowered);
  const std::uint64_t in = bench.allocate(4096), image = bench.allocate(RandomTile::most_shared);
  const std::uint64_t maps = bench.allocate(256 + 64);
  RandomTile tile;
  tile.map.address = in;
  tile.map.rank = 2;
  tile.map.type = TensorType::f32;
  tile.map.size = {32, 32, 1, 1, 1};
  tile.map.stride[1] = 128;
  tile.map.box = {8, 8, 1, 1, 1};
  TileArguments arguments(tile, tile.map);
  std::uint32_t shared = 0;
  change(arguments, shared);
  bench.memory().write(maps + arguments.shift, arguments.maps.data(), 256);
  try {
    bench.run("k", {1, 1, 1}, {32, 1, 1}, arguments.maps, maps + arguments.shift, image,
              arguments.first, shared, std::uint32_t{256});
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_P(InterpretedTensorCopies, MistakesAreToldWithThreadAndLine) {
  const auto has = [&](auto&& change, const std::string& part,
                       MapSpace space = MapSpace::parameter) {
    const std::string text = mistake_of(change, GetParam(), space);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("test.ptx:" + load_line_of(tile_kernel(2, space)) +
                        ": kernel k, block (0, 0, 0), thread (0, 0, 0): "),
              std::string::npos)
        << text;
  };
  EXPECT_EQ(mistake_of([](auto&, auto&) {}, GetParam()), "");
  has([](TileArguments& given, auto&) { given.maps = {}; }, "these bytes are no tensor map");
  has([](TileArguments& given, auto&) { given.maps = {}; }, "these bytes are no tensor map",
      MapSpace::global);
  has([](TileArguments& given, auto&) { given.shift = 16; }, "which is not a multiple of 64",
      MapSpace::global);
  has([](TileArguments& given, auto&) { given.change([](TensorMap& map) { map.rank = 3; }); },
      "has 3 dimensions, the instruction has 2");
  has([](auto&, std::uint32_t& shared) { shared = 64; },
      "tile at shared address 0x40, which is not a multiple of 128");
  has([](auto&, std::uint32_t& shared) { shared = RandomTile::most_shared - 128; },
      "outside of the block's");
  has(
      [](TileArguments& given, auto&) {
        given.change([](TensorMap& map) { map.size[1] = 33; });
        given.first[1] = 30;
      },
      "out-of-bounds bulk copy of");
  has([](TileArguments& given,
         auto&) { given.change([](TensorMap& map) { map.swizzle = Swizzle::bytes_64; }); },
      "fewer than its swizzle of 64 bytes");
}

}  // namespace
}  // namespace lockstep::isa::tensor_copies_test
