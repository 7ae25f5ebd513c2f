/// Which accesses of shared memory are said to race.
#include "models/isa/interpreter/races/shared_races.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::shared_races_test {
namespace {

/// The instructions of each race, without operands, the lesser word first: "ld.shared.u32,
/// st.shared.u32".
using Races = std::vector<std::string>;

struct Found {
  Races races;
  std::vector<SharedRace> details;
};

/// %r1: thread, %r2: its warp, %r3: its lane, %r4: address of its word, %r5: of the word of the
/// same lane in the other of two warps, %p1: it is in warp 0.
std::string kernel(const std::string& body) {
  return kernel_text(R"(
.shared .align 16 .b8 s[1024];
.shared .align 4 .u32 flag;
shr.u32 %r2, %r1, 5;
and.b32 %r3, %r1, 31;
mov.u32 %r4, s;
shl.b32 %r6, %r1, 2;
add.u32 %r4, %r4, %r6;
xor.b32 %r5, %r1, 32;
shl.b32 %r5, %r5, 2;
mov.u32 %r6, s;
add.u32 %r5, %r5, %r6;
setp.eq.u32 %p1, %r2, 0;
)" + body + "\nret;");
}

Found find(const std::string& body, std::uint32_t threads = 64) {
  const std::string text = kernel(body);
  IsaBench bench(text);
  RaceList list;
  bench.races = &list;
  bench.run("k", {1, 1, 1}, {threads, 1, 1}, bench.allocate(4096));
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line.substr(0, line.find(' ')));
  const auto& program = bench.module().kernels[0].reference;
  Found found;
  for (const SharedRace& race : list.races()) {
    const auto [one, other] = std::minmax(lines[program.source_lines[race.first.pc] - 1],
                                          lines[program.source_lines[race.second.pc] - 1]);
    found.races.push_back(one + ", " + other);
  }
  found.details = list.races();
  return found;
}

Races races(const std::string& body, std::uint32_t threads = 64) {
  return find(body, threads).races;
}

const Races none;
constexpr const char *store_mine = "st.shared.u32 [%r4], %r1;\n", *barrier = "bar.sync 0;\n",
                     *load_other = "ld.shared.u32 %r7, [%r5];\n";

TEST(SharedRaces, WriteAndReadOfAnotherWarp) {
  const Found found = find(std::string(store_mine) + load_other);
  ASSERT_EQ(found.races, Races{"ld.shared.u32, st.shared.u32"});
  const SharedRace& race = found.details[0];
  EXPECT_NE(race.first.thread / 32, race.second.thread / 32);
  EXPECT_NE(race.first.kind, race.second.kind);
  const SharedRace::Side& writer = race.first.kind == AccessKind::store ? race.first : race.second;
  EXPECT_EQ(race.offset / 4, writer.thread);
}

TEST(SharedRaces, BarrierOrders) {
  EXPECT_EQ(races(std::string(store_mine) + barrier + load_other), none);
}

TEST(SharedRaces, ReadAndWriteBehindItsBarrier) {
  const std::string body = std::string(store_mine) + barrier + load_other;
  EXPECT_EQ(races(body + "st.shared.u32 [%r4], %r7;"), Races{"ld.shared.u32, st.shared.u32"});
  EXPECT_EQ(races(body + barrier + "st.shared.u32 [%r4], %r7;"), none);
}

TEST(SharedRaces, OneReaderOfManyThatIsNotOrdered) {
  const std::string body = R"(mov.u32 %r8, s;
@%p1 st.shared.u32 [%r8], %r1;
bar.sync 0;
ld.shared.u32 %r7, [%r8];
setp.eq.u32 %p2, %r2, 2;
@%p2 bra BEHIND;
bar.sync 1, 96;
@!%p1 bra BEHIND;
st.shared.u32 [%r8+4], %r3;
setp.eq.u32 %p3, %r3, 0;
@%p3 st.shared.u32 [%r8], %r7;
BEHIND:)";
  // Lanes of warp 0 wrote other values to one word as well.
  EXPECT_EQ(races(body, 128),
            (Races{"@%p1, @%p1", "st.shared.u32, st.shared.u32", "@%p3, ld.shared.u32"}));
}

TEST(SharedRaces, LanesOfOneWarpUntilTheyMeet) {
  const std::string body = R"(xor.b32 %r8, %r4, 4;
st.shared.u32 [%r4], %r1;
)";
  const std::string load = "ld.shared.u32 %r7, [%r8];";
  EXPECT_EQ(races(body + load, 32), Races{"ld.shared.u32, st.shared.u32"});
  EXPECT_EQ(races(body + "bar.warp.sync 0xffffffff;\n" + load, 32), none);
  EXPECT_EQ(races(body + "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;\n" + load, 32), none);
}

TEST(SharedRaces, PartsOfAWarpThatMeetApart) {
  // The lower and the upper half: words of the own half, then of the other one.
  const std::string halves = R"(st.shared.u32 [%r4], %r1;
mov.u32 %r9, 0xffff;
setp.lt.u32 %p2, %r3, 16;
@!%p2 mov.u32 %r9, 0xffff0000;
bar.warp.sync %r9;
xor.b32 %r8, %r4, MASK;
ld.shared.u32 %r7, [%r8];)";
  const auto with = [&](const std::string& mask) {
    std::string text = halves;
    return races(text.replace(text.find("MASK"), 4, mask), 32);
  };
  EXPECT_EQ(with("4"), none);
  EXPECT_EQ(with("64"), Races{"ld.shared.u32, st.shared.u32"});
}

TEST(SharedRaces, NamedBarriersOrderThoseThatComeThere) {
  const std::string producer = R"(@!%p1 bra CONSUMER;
st.shared.u32 [%r4], %r1;
bar.arrive 3, 64;
bra BEHIND;
CONSUMER:
bar.sync NUMBER, COUNT;
ld.shared.u32 %r7, [%r5];
BEHIND:)";
  const auto with = [&](const std::string& number, const std::string& count) {
    std::string text = producer;
    text.replace(text.find("NUMBER"), 6, number);
    return races(text.replace(text.find("COUNT"), 5, count));
  };
  EXPECT_EQ(with("3", "64"), none);
  EXPECT_EQ(with("4", "32"), Races{"ld.shared.u32, st.shared.u32"});
}

TEST(SharedRaces, ArrivalOrdersOnlyWhatStandsBeforeIt) {
  EXPECT_EQ(races(R"(@!%p1 bra CONSUMER;
bar.arrive 3, 64;
st.shared.u32 [%r4], %r1;
bra BEHIND;
CONSUMER:
bar.sync 3, 64;
ld.shared.u32 %r7, [%r5];
BEHIND:)"),
            Races{"ld.shared.u32, st.shared.u32"});
}

TEST(SharedRaces, BarrierAfterThreadsThatHaveExited) {
  EXPECT_EQ(races(R"(st.shared.u32 [%r4], %r1;
@%p1 exit;
bar.sync 0;
ld.shared.u32 %r7, [%r5];)"),
            none);
}

TEST(SharedRaces, AtomicsWithEachOtherAreNone) {
  const std::string count = "mov.u32 %r8, s;\natom.shared.add.u32 %r7, [%r8], 1;\n";
  EXPECT_EQ(races(count), none);
  EXPECT_EQ(races(count + "red.shared.max.u32 [%r8], %r1;"), none);
}

TEST(SharedRaces, AtomicsAndPlainAccesses) {
  const std::string count = "mov.u32 %r8, s;\nred.shared.add.u32 [%r8], 1;\n";
  EXPECT_EQ(races(count + "ld.shared.u32 %r7, [%r8];"), Races{"ld.shared.u32, red.shared.add.u32"});
  EXPECT_EQ(races(count + barrier + "ld.shared.u32 %r7, [%r8];"), none);
  EXPECT_EQ(races(count + "ld.volatile.shared.u32 %r7, [%r8];"), none);
}

/// Warp 0 writes and sets a flag, for which warp 1 waits.
std::string handed_over(const std::string& set, const std::string& wait) {
  return "@!%p1 bra WAIT;\nst.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\n" + set +
         "\nbra BEHIND;\nWAIT:\n" + wait +
         "\nsetp.eq.u32 %p2, %r8, 0;\n@%p2 bra WAIT;\nld.shared.u32 %r7, [%r5];\nBEHIND:";
}

TEST(SharedRaces, FlagsOrder) {
  EXPECT_EQ(races(handed_over("membar.cta;\nst.volatile.shared.u32 [flag], 1;",
                              "ld.volatile.shared.u32 %r8, [flag];\nmembar.cta;")),
            none);
  EXPECT_EQ(races(handed_over("atom.shared.exch.b32 %r9, [flag], 1;",
                              "ld.acquire.cta.shared.u32 %r8, [flag];")),
            none);
  EXPECT_EQ(races(handed_over("membar.cta;\nred.global.add.u32 [%rd1], 1;",
                              "ld.acquire.cta.global.u32 %r8, [%rd1];")),
            none);
}

TEST(SharedRaces, CountersInGlobalMemoryDoNotOrderWithoutAFence) {
  EXPECT_EQ(races(std::string(store_mine) + "red.global.add.u32 [%rd1], 1;\n" + load_other),
            Races{"ld.shared.u32, st.shared.u32"});
}

TEST(SharedRaces, LockOrders) {
  EXPECT_EQ(races(R"(mov.u32 %r8, s;
setp.ne.u32 %p2, %r3, 0;
@%p2 exit;
AGAIN:
atom.shared.cas.b32 %r9, [flag], 0, 1;
setp.ne.u32 %p2, %r9, 0;
@%p2 bra AGAIN;
ld.shared.u32 %r7, [%r8];
add.u32 %r7, %r7, 1;
st.shared.u32 [%r8], %r7;
membar.cta;
atom.shared.exch.b32 %r9, [flag], 0;)",
                  128),
            none);
}

TEST(SharedRaces, WritesOfTheSameValueAreNone) {
  const std::string write = "mov.u32 %r8, s;\nst.shared.u32 [%r8], ";
  EXPECT_EQ(races(write + "7;"), none);
  EXPECT_EQ(races(write + "%r2;"), Races{"st.shared.u32, st.shared.u32"});
}

TEST(SharedRaces, NeighboursInAWordAreNone) {
  EXPECT_EQ(races(R"(mov.u32 %r8, s;
add.u32 %r8, %r8, %r1;
cvt.u16.u32 %rs1, %r1;
st.shared.u8 [%r8], %rs1;
ld.shared.u8 %rs2, [%r8];)"),
            none);
}

TEST(SharedRaces, VectorsAndGenericAddresses) {
  EXPECT_EQ(races(R"(cvt.u64.u32 %rd5, %r4;
cvta.shared.u64 %rd5, %rd5;
and.b64 %rd6, %rd5, -16;
st.u32 [%rd5], %r1;
ld.v4.u32 {%r10, %r11, %r12, %r13}, [%rd6];)",
                  32),
            Races{"ld.v4.u32, st.u32"});
}

TEST(SharedRaces, EachPairOfInstructionsIsFoundOnce) {
  EXPECT_EQ(races(R"(mov.u32 %r9, 0;
AGAIN:
st.shared.u32 [%r4], %r9;
ld.shared.u32 %r7, [%r5];
add.u32 %r9, %r9, 1;
setp.lt.u32 %p2, %r9, 50;
@%p2 bra AGAIN;)"),
            Races{"ld.shared.u32, st.shared.u32"});
}

TEST(SharedRaces, WhatIsComputedIsTheSame) {
  IsaBench bench(
      kernel(std::string(store_mine) + barrier + load_other + "st.global.u32 [%rd2], %r7;"));
  RaceList list;
  bench.races = &list;
  const std::uint64_t out = bench.allocate(256);
  bench.run("k", {1, 1, 1}, {64, 1, 1}, out);
  EXPECT_EQ(bench.values<std::uint32_t>(out, 64)[5], 37u);
}

}  // namespace
}  // namespace lockstep::isa::shared_races_test
