/// Reductions in bulk in an SM: an atomic for each element.
/// Source: PTX ISA 8.x, "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor".
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "models/isa/atomic.hpp"
#include "models/isa/bulk/reduction.hpp"
#include "tests/unit/isa/bulk/random_tile.hpp"
#include "tests/unit/isa/bulk/tile_kernels.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::bulk_reductions_test {
namespace {

using isa::AtomicOperation;
using isa::RandomTile;
using isa::Type;

IdealMachine::Options with_engine() {
  IdealMachine::Options options;
  options.parameters.bulk.lines_in_flight = 64;
  return options;
}

struct Reduction {
  const char* text;
  AtomicOperation operation;
  Type type;
};
constexpr Reduction reductions[] = {
    {"add.u32", AtomicOperation::add, Type::u32},
    {"min.s32", AtomicOperation::min, Type::s32},
    {"max.u64", AtomicOperation::max, Type::u64},
    {"and.b32", AtomicOperation::logical_and, Type::b32},
    {"xor.b64", AtomicOperation::logical_xor, Type::b64},
    {"inc.u32", AtomicOperation::inc, Type::u32},
    {"dec.u32", AtomicOperation::dec, Type::u32},
    {"add.f32", AtomicOperation::add, Type::f32},
    {"add.f64", AtomicOperation::add, Type::f64},
    {"add.noftz.f16", AtomicOperation::add, Type::f16},
    {"add.noftz.bf16", AtomicOperation::add, Type::bf16},
    {"min.f16", AtomicOperation::min, Type::f16},
};

constexpr std::uint64_t in = 0x10000, out = 0x20010;
constexpr std::uint32_t bytes = 1008;

/// 64 threads bring in to room by words, thread 0 reduces it into out, waits and says so behind it.
std::string reduce(const std::string& reduction) {
  return R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, room;
  shl.b32 %r3, %r1, 2;
next:
  add.u32 %r4, %r2, %r3;
  cvt.u64.u32 %rd2, %r3;
  add.u64 %rd2, %rd2, %rd1;
  ld.global.u32 %r5, [%rd2];
  st.shared.u32 [%r4], %r5;
  add.u32 %r3, %r3, 256;
  setp.lt.u32 %p1, %r3, 1024;
  @%p1 bra next;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.)" +
         reduction + R"( [%rd0], [%r2], %r0;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ld.global.u32 %r6, [%rd0+1008];
  add.u32 %r6, %r6, 1;
  st.global.u32 [%rd0+1008], %r6;
done:
)";
}
const std::string declarations = ".shared .align 128 .b8 room[1024];\n";

/// Bits that are numbers of ordinary size in every type.
std::uint32_t number(std::mt19937& random) {
  return 0x3c003c00 + random() % 0x200 + (random() % 0x200 << 16);
}

std::vector<std::byte> start(IdealMachine& machine, const Reduction& reduction) {
  std::mt19937 random(11);
  for (std::uint32_t w = 0; w < 256; ++w) {
    machine.put(in + 4 * w, number(random));
    machine.put(out + 4 * w, number(random));
  }
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {machine.address(out), machine.address(in), bytes});
  std::vector<std::byte> expected = machine.memory();
  const unsigned size = isa::bytes_of(reduction.type);
  for (std::uint32_t at = 0; at < bytes; at += size) {
    std::uint64_t old = 0, operand = 0;
    std::memcpy(&old, expected.data() + out + at, size);
    std::memcpy(&operand, expected.data() + in + at, size);
    old = isa::apply(reduction.operation, reduction.type, old, operand, 0);
    std::memcpy(expected.data() + out + at, &old, size);
  }
  std::uint32_t last = 0;
  std::memcpy(&last, expected.data() + out + bytes, 4);
  ++last;
  std::memcpy(expected.data() + out + bytes, &last, 4);
  return expected;
}

TEST(BulkReductions, AreAtomicsOfEachElement) {
  for (const Reduction& reduction : reductions) {
    IdealMachine machine(kernel_of(reduce(reduction.text), declarations), with_engine());
    const auto expected = start(machine, reduction);
    machine.run(90, 100'000);
    EXPECT_TRUE(machine.memory() == expected) << reduction.text;
  }
}

TEST(BulkReductions, OfWordsTakeARequestForEachLine) {
  IdealMachine machine(kernel_of(reduce("add.u32"), declarations), with_engine());
  machine.record = true;
  start(machine, reductions[0]);
  machine.run(90, 100'000);
  unsigned atomics = 0;
  for (const auto& seen : machine.seen)
    atomics += seen.request.operation == MemoryOperation::atomic ? 1 : 0;
  EXPECT_EQ(atomics, 8u) << "1008 bytes from 16 on touch eight lines";
}

TEST(BulkReductions, HappenOnceUnderEverySchemeAndAcrossCheckpoints) {
  for (const std::string scheme : {"stall-on-fault", "warp-disable-commit",
                                   "warp-disable-last-check", "replay-queue", "operand-log"}) {
    IdealMachine::Options options = with_engine();
    options.exception_scheme = scheme;
    options.knows_pages = false;
    IdealMachine machine(kernel_of(reduce("add.u32"), declarations), options);
    machine.pages[IdealMachine::page_of(in)].status = TranslationStatus::refused;
    machine.pages[IdealMachine::page_of(out)].status = TranslationStatus::refused;
    const auto expected = start(machine, reductions[0]);
    machine.run_to(2000);
    machine.page_comes(IdealMachine::page_of(in));
    machine.run_to(4000);
    machine.save_and_restore();
    machine.page_comes(IdealMachine::page_of(out));
    for (std::int64_t stop = 4100; stop < 4600; stop += 97) {
      machine.run_to(stop);
      machine.save_and_restore();
    }
    machine.run(90, 100'000);
    EXPECT_TRUE(machine.memory() == expected) << scheme;
  }
}

TEST(BulkReductions, OfTilesFollowTheTypeOfTheirMap) {
  constexpr std::uint64_t tile_in = 0x20000, tile_out = 0x40000, image = 0x60000;
  constexpr std::size_t room = RandomTile::most_global + 256;
  std::mt19937 random(12);
  for (unsigned rank = 1; rank <= 5; ++rank) {
    std::string text = isa::tile_kernel(rank, isa::MapSpace::parameter);
    const std::string store = "cp.async.bulk.tensor." + std::to_string(rank) + "d.global";
    text.replace(text.find(store), store.size(),
                 "cp.reduce.async.bulk.tensor." + std::to_string(rank) + "d.add.global");
    const isa::Module module = isa::load_module_text(text, "test.ptx");
    for (unsigned run = 0; run < 10; ++run) {
      RandomTile tile;
      do {
        tile = isa::random_tile(random, IdealMachine::address(tile_in));
      } while (tile.map.rank != rank || isa::reduced_type(tile.map.type) == Type::none);
      tile.map.fills_nan = false;
      IdealMachine machine(module, with_engine());
      for (std::size_t i = 0; i < room; i += 4) {
        machine.put(tile_in + i, number(random));
        machine.put(tile_out + i, number(random));
      }
      isa::TensorMap back = tile.map;
      back.address += tile_out - tile_in;
      const isa::TileArguments given(tile, back);
      std::vector<std::uint64_t> arguments(37);
      std::memcpy(arguments.data(), given.maps.data(), given.maps.size());
      arguments[32] = arguments[33] = machine.address(image);
      std::memcpy(&arguments[34], given.first.data(), sizeof given.first);
      arguments.push_back(tile.shared);
      arguments.push_back(tile.map.box_bytes());
      machine.launch("k", {1, 1, 1}, {32, 1, 1}, arguments);
      std::vector<std::byte> expected(machine.memory().begin() + tile_out,
                                      machine.memory().begin() + tile_out + room);
      const Type type = isa::reduced_type(tile.map.type);
      const unsigned size = isa::bytes_of(type);
      isa::for_each_element(tile, [&](std::uint64_t address, std::uint32_t) {
        if (address == 0) return;
        const std::uint64_t at = address - IdealMachine::address(tile_in);
        std::uint64_t old = 0, operand = 0;
        std::memcpy(&old, &expected[at], size);
        std::memcpy(&operand, machine.memory().data() + tile_in + at, size);
        old = isa::apply(AtomicOperation::add, type, old, operand, 0);
        std::memcpy(&expected[at], &old, size);
      });
      machine.run(90, 200'000);
      EXPECT_EQ(std::memcmp(expected.data(), machine.memory().data() + tile_out, room), 0)
          << rank << " " << run;
    }
  }
}

}  // namespace
}  // namespace lockstep::bulk_reductions_test
