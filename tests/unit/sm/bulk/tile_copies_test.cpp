/// Copies of tiles in an SM: what they bring, when, and what may come between.
/// Source: PTX ISA 8.x, "cp.async.bulk.tensor"; modern-isa.md, sections 3.3 and 5.6.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "models/isa/load.hpp"
#include "tests/unit/isa/bulk/random_tile.hpp"
#include "tests/unit/isa/bulk/tile_kernels.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"

namespace lockstep::tile_copies_test {
namespace {

using isa::MapSpace;
using isa::RandomTile;
using isa::TensorMap;

constexpr std::uint64_t maps = 0x4000, in = 0x20000, out = 0x40000, image = 0x60000;
constexpr std::size_t room = RandomTile::most_global + 256;

IdealMachine::Options with_engine() {
  IdealMachine::Options options;
  options.parameters.bulk.lines_in_flight = 64;
  return options;
}

isa::Module kernel_of(unsigned rank, MapSpace space) {
  return isa::load_module_text(isa::tile_kernel(rank, space), "test.ptx");
}

RandomTile tile_of(std::mt19937& random, unsigned rank) {
  for (;;) {
    const RandomTile tile = isa::random_tile(random, IdealMachine::address(in));
    if (tile.map.rank == rank) return tile;
  }
}

/// What memory is to have after a run.
std::vector<std::byte> start(IdealMachine& machine, const RandomTile& tile, std::mt19937& random) {
  for (std::size_t i = 0; i < room; ++i) {
    machine.put(in + i, static_cast<std::uint8_t>(random()));
    machine.put(out + i, static_cast<std::uint8_t>(random()));
  }
  TensorMap back = tile.map;
  back.address += out - in;
  const isa::TileArguments given(tile, back);
  std::memcpy(machine.memory().data() + maps, given.maps.data(), given.maps.size());
  std::vector<std::uint64_t> arguments(32);
  std::memcpy(arguments.data(), given.maps.data(), given.maps.size());
  arguments.push_back(machine.address(maps));
  arguments.push_back(machine.address(image));
  arguments.resize(37);
  std::memcpy(&arguments[34], given.first.data(), sizeof given.first);
  arguments.push_back(tile.shared);
  arguments.push_back(tile.map.box_bytes());
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, arguments);

  std::vector<std::byte> expected = machine.memory();
  std::memset(expected.data() + image, isa::tile_background, RandomTile::most_shared);
  const unsigned element = isa::bytes_of(tile.map.type);
  isa::for_each_element(tile, [&](std::uint64_t address, std::uint32_t place) {
    std::byte* const shown = expected.data() + image + place;
    if (address == 0) {
      std::memset(shown, tile.map.fills_nan ? 0xff : 0, element);
      return;
    }
    const std::uint64_t offset = address - IdealMachine::address(in);
    std::memcpy(shown, machine.memory().data() + in + offset, element);
    std::memcpy(expected.data() + out + offset, machine.memory().data() + in + offset, element);
  });
  return expected;
}

TEST(TileCopies, BringWhatALoopBringsAndPutItBack) {
  std::mt19937 random(5);
  for (unsigned rank = 1; rank <= 5; ++rank) {
    for (const MapSpace space : {MapSpace::parameter, MapSpace::global}) {
      const isa::Module module = kernel_of(rank, space);
      for (unsigned run = 0; run < 12; ++run) {
        IdealMachine::Options options = with_engine();
        if (run % 3 == 1) options.parameters.bulk.lines_in_flight = 2;
        if (run % 3 == 2) options.parameters.bulk.lines_per_cycle = 4;
        IdealMachine machine(module, options);
        const auto expected = start(machine, tile_of(random, rank), random);
        machine.run(90, 200'000);
        ASSERT_TRUE(machine.memory() == expected) << rank << " " << run;
      }
    }
  }
}

/// 64 x 16 of f32 with a swizzle of 128 bytes, a part of it outside: 14 rows of 96 bytes.
RandomTile plain_tile() {
  RandomTile tile;
  tile.map.address = IdealMachine::address(in);
  tile.map.rank = 2;
  tile.map.type = isa::TensorType::f32;
  tile.map.swizzle = isa::Swizzle::bytes_128;
  tile.map.size = {64, 32, 1, 1, 1};
  tile.map.stride[1] = 256;
  tile.map.box = {32, 16, 1, 1, 1};
  tile.first = {40, 18, 0, 0, 0};
  tile.shared = 1024;
  return tile;
}

std::vector<IdealMachine::Seen> requests_of(IdealMachine& machine) {
  machine.record = true;
  std::mt19937 random(6);
  start(machine, plain_tile(), random);
  machine.run(90, 100'000);
  machine.sort_seen();
  return machine.seen;
}

TEST(TileCopies, AskForAPieceOfARowInALineACycle) {
  IdealMachine machine(kernel_of(2, MapSpace::parameter), with_engine());
  std::vector<std::int64_t> loads;
  for (const auto& seen : requests_of(machine))
    if (seen.request.operation == MemoryOperation::load) loads.push_back(seen.departure);
  ASSERT_EQ(loads.size(), 14u) << "rows of 96 bytes from 160 on, each in one line";
  EXPECT_GE(loads.back() - loads.front(), 13);
  const auto& counts = machine.statistics().tenant[0];
  EXPECT_EQ(counts.bulk_copies.value(), 2u);
  EXPECT_EQ(counts.bulk_lines.value(), 28u);
  EXPECT_EQ(counts.async_copy_bytes.value(), 2048u) << "those outside of the tensor among them";
}

TEST(TileCopies, AMapAmongParametersCostsALatencyOnce) {
  const auto times_of = [](Cycles latency) {
    IdealMachine::Options options = with_engine();
    options.parameters.bulk.map_latency = latency;
    IdealMachine machine(kernel_of(2, MapSpace::parameter), options);
    std::int64_t load = 0, store = 0;
    for (const auto& seen : requests_of(machine)) {
      if (seen.request.operation == MemoryOperation::load && load == 0) load = seen.departure;
      if (seen.request.operation == MemoryOperation::store) store = seen.departure;
    }
    return std::pair(load, store);
  };
  const auto [load, store] = times_of(Cycles(0));
  const auto [late_load, late_store] = times_of(Cycles(500));
  EXPECT_EQ(late_load, load + 500);
  EXPECT_EQ(late_store, store + 1000) << "the store has a map of its own";
}

TEST(TileCopies, AMapInGlobalMemoryIsLoadedOnceAsLongAsItIsKept) {
  const auto map_loads = [](std::uint32_t entries, const std::string& again) {
    std::string text = isa::tile_kernel(2, MapSpace::global);
    text.insert(text.find("@%p2 bra done;"), "@%p2 bra done;\n" + again);
    IdealMachine::Options options = with_engine();
    options.parameters.bulk.map_entries = entries;
    IdealMachine machine(isa::load_module_text(text, "test.ptx"), options);
    unsigned loads = 0;
    for (const auto& seen : requests_of(machine))
      loads += seen.request.operation == MemoryOperation::load &&
                       seen.request.virtual_page == IdealMachine::page_of(maps)
                   ? 1
                   : 0;
    return loads;
  };
  const std::string prefetch = "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%c0, %c1}];\n";
  const std::string other = "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1+128, {%c0, %c1}];\n";
  EXPECT_EQ(map_loads(16, ""), 2u) << "that of the load and that of the store";
  EXPECT_EQ(map_loads(16, prefetch + other + prefetch), 2u);
  EXPECT_EQ(map_loads(1, prefetch + other + prefetch), 4u);
  EXPECT_EQ(map_loads(16, "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;\n" + prefetch),
            3u);
}

TEST(TileCopies, GoThroughACheckpointAtAnyCycle) {
  for (const MapSpace space : {MapSpace::parameter, MapSpace::global}) {
    const isa::Module module = kernel_of(2, space);
    const auto fresh = [&](IdealMachine& machine) {
      std::mt19937 random(7);
      return start(machine, plain_tile(), random);
    };
    IdealMachine whole(module, with_engine());
    const auto expected = fresh(whole);
    const std::int64_t end = whole.run();
    ASSERT_TRUE(whole.memory() == expected);
    for (std::int64_t stop = 10; stop < end; stop += 23) {
      IdealMachine machine(module, with_engine());
      fresh(machine);
      machine.run_to(stop);
      machine.save_and_restore();
      ASSERT_EQ(machine.run(), end) << stop;
      ASSERT_TRUE(machine.memory() == expected) << stop;
    }
  }
}

TEST(TileCopies, LinesAndMapsWaitForPagesUnderEveryScheme) {
  for (const std::string scheme : {"stall-on-fault", "warp-disable-commit",
                                   "warp-disable-last-check", "replay-queue", "operand-log"}) {
    IdealMachine::Options options = with_engine();
    options.exception_scheme = scheme;
    options.knows_pages = false;
    IdealMachine machine(kernel_of(2, MapSpace::global), options);
    RandomTile tile = plain_tile();
    tile.map.address += 2 * page_bytes - 20 * 256;  // its 20th row begins in another page
    const std::uint64_t pages[] = {maps,  in + page_bytes,  in + 2 * page_bytes,
                                   image, out + page_bytes, out + 2 * page_bytes};
    for (const std::uint64_t page : pages)
      machine.pages[IdealMachine::page_of(page)].status = TranslationStatus::refused;
    std::mt19937 random(8);
    const auto expected = start(machine, tile, random);
    std::int64_t until = 0;
    for (const std::uint64_t page : pages) {
      machine.run_to(until += 3000);
      EXPECT_FALSE(machine.memory() == expected) << scheme;
      machine.save_and_restore();
      machine.page_comes(IdealMachine::page_of(page));
    }
    machine.run(90, 100'000);
    EXPECT_TRUE(machine.memory() == expected) << scheme;
    EXPECT_EQ(machine.statistics().tenant[0].bulk_copies.value(), 2u) << scheme;
  }
}

TEST(TileCopies, ATenantThatEndsLeavesNothingUnderWay) {
  for (const MapSpace space : {MapSpace::parameter, MapSpace::global}) {
    for (const std::string scheme : {"stall-on-fault", "replay-queue"}) {
      for (std::int64_t end = 1000; end < 3500; end += 29) {
        IdealMachine::Options options = with_engine();
        options.parameters.bulk.lines_in_flight = 3;
        options.exception_scheme = scheme;
        options.knows_pages = false;
        IdealMachine machine(kernel_of(2, space), options);
        const std::uint64_t page = IdealMachine::page_of(end % 3 == 0 ? in + 18 * 256 : maps);
        if (end % 3 != 1) machine.pages[page].status = TranslationStatus::refused;
        std::mt19937 random(9);
        start(machine, plain_tile(), random);
        machine.post(0, end, MessageKind::abort_tenant, TenantNotice{0, {}});
        machine.run_to(end + 200);
        if (end % 3 != 1) machine.page_comes(page);
        ASSERT_LT(machine.run(90, 20'000), 20'000) << scheme << " " << end;
        ASSERT_TRUE(machine.sm().finished()) << scheme << " " << end;
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::tile_copies_test
