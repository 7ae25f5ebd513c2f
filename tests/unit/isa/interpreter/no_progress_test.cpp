// Grids that go round for ever are reported; those that take long are not.

#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::no_progress_test {
namespace {

const char* const text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry poll(.param .u64 flag) {
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
.visible .entry barrier(.param .u64 flag) {
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
again:
  bar.sync 0;
  mov.u32 %r1, 3;
  st.global.u32 [%rd1+4], %r1;
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
.visible .entry last(.param .u64 flag) {
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  add.u32 %r3, %r1, 1;
  setp.eq.u32 %p1, %r3, %r2;
  @%p1 bra set;
again:
  ld.volatile.global.u32 %r4, [%rd1];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra again;
  ret;
set:
  mov.u32 %r5, 1;
  st.volatile.global.u32 [%rd1], %r5;
  ret;
}
.visible .entry count(.param .u64 flag) {
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, 0;
outer:
  mov.u32 %r2, 0;
inner:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 1000;
  @%p1 bra inner;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p2, %r1, 20000;
  @%p2 bra outer;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

/// `rounds` barriers of the whole grid, as a counter to which every block adds one and which it
/// polls.
const char* const grid_barriers = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry rounds(.param .u64 counter, .param .u32 rounds) {
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [counter];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, 0;
round:
  add.u32 %r3, %r3, %r2;
  atom.global.add.u32 %r4, [%rd1], 1;
again:
  ld.acquire.gpu.global.u32 %r5, [%rd1];
  setp.lt.u32 %p1, %r5, %r3;
  @%p1 bra again;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra round;
  ret;
}
)";

std::string error_of(const std::string& kernel, std::uint32_t blocks) {
  IsaBench bench(text, false, "spin.ptx");
  const std::uint64_t flag = bench.allocate(4096);
  try {
    bench.run(kernel, {blocks, 1, 1}, {64, 1, 1}, flag);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

void expect_found(const std::string& message, const std::string& kernel) {
  EXPECT_EQ(message.find("spin.ptx:"), 0u) << message;
  EXPECT_NE(
      message.find("kernel " + kernel + ", block (0, 0, 0), thread (0, 0, 0): does not get on"),
      std::string::npos)
      << message;
}

TEST(NoProgress, APollOfAWordThatNobodySets) {
  expect_found(error_of("poll", 1), "poll");
  EXPECT_NE(error_of("poll", 5).find("does not get on"), std::string::npos);
}

TEST(NoProgress, ALoopThroughABarrierThatStoresTheSameAgainAndAgain) {
  expect_found(error_of("barrier", 1), "barrier");
}

TEST(NoProgress, BlocksMayWaitForOneThatComesMuchLater) {
  EXPECT_EQ(error_of("last", 200), "");
}

TEST(NoProgress, BlocksThatPollGiveWaySoon) {
  constexpr std::uint32_t blocks = 16, rounds = 50;
  IsaBench bench(grid_barriers, false, "rounds.ptx");
  const std::uint64_t counter = bench.allocate(4096);
  const InterpreterCounts counts = bench.run("rounds", {blocks, 1, 1}, {1, 1, 1}, counter, rounds);
  EXPECT_LT(counts.warp_instructions, 10'000ull * blocks * rounds);
}

TEST(NoProgress, WhatCountsGetsOn) {
  EXPECT_EQ(error_of("count", 1), "");
}

}  // namespace
}  // namespace lockstep::isa::no_progress_test
