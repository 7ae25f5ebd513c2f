/// Branches, loops and barriers.
#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::control_flow_test {
namespace {

LOCKSTEP_BOTH_FORMS(ControlFlow);

TEST_P(ControlFlow, IfElseGivesEachLaneItsArm) {
  const auto out = run_block(kernel_text(R"(
    setp.lt.u32 %p1, %r1, 5;
    @%p1 bra small;
    add.u32 %r2, %r1, 100;
    bra.uni join;
  small:
    mul.lo.u32 %r2, %r1, 7;
  join:
    st.global.u32 [%rd2], %r2;
    ret;)"),
                             40, GetParam());
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(out[i], i < 5 ? 7 * i : i + 100) << i;
}

TEST_P(ControlFlow, LoopsRunAsOftenAsEachLaneNeeds) {
  const auto out = run_block(kernel_text(R"(
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
  loop:
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 bra done;
    add.u32 %r2, %r2, %r3;
    add.u32 %r3, %r3, 1;
    bra loop;
  done:
    st.global.u32 [%rd2], %r2;
    ret;)"),
                             64, GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i * (i - 1) / 2) << i;
}

TEST_P(ControlFlow, AnEarlyReturnDoesNotSplitTheRest) {
  const std::string text = kernel_text(R"(
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra out_of_here;
    and.b32 %r3, %r1, 2;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra skip;
    add.u32 %r1, %r1, 1000;
  skip:
    activemask.b32 %r4;
    st.global.u32 [%rd2], %r4;
  out_of_here:
    ret;)");
  const auto out = run_block(text, 32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 0 : 0xaaaaaaaau) << i;
}

TEST_P(ControlFlow, AnIndexedBranchTakesEachLaneToItsTarget) {
  const auto out = run_block(kernel_text(R"(
    and.b32 %r2, %r1, 3;
    ts: .branchtargets zero, one, two, one;
    brx.idx %r2, ts;
  zero:
    mov.u32 %r3, 10;
    bra.uni join;
  one:
    mov.u32 %r3, 11;
    bra.uni join;
  two:
    mov.u32 %r3, 12;
  join:
    st.global.u32 [%rd2], %r3;
    ret;)"),
                             32, GetParam());
  constexpr std::uint32_t expected[] = {10, 11, 12, 11};
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], expected[i % 4]) << i;
}

TEST_P(ControlFlow, ABarrierInBothArmsOfABranchIsPassed) {
  const auto out = run_block(kernel_text(R"(
    .shared .align 4 .b8 cells[512];
    mov.u32 %r5, cells;
    shl.b32 %r6, %r1, 2;
    add.u32 %r5, %r5, %r6;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra even;
    st.shared.u32 [%r5], %r1;
    bar.sync 0;
    ld.shared.u32 %r3, [%r5+-4];
    bra.uni join;
  even:
    add.u32 %r4, %r1, 500;
    st.shared.u32 [%r5], %r4;
    bar.sync 0;
    ld.shared.u32 %r3, [%r5+4];
  join:
    st.global.u32 [%rd2], %r3;
    ret;)"),
                             96, GetParam());
  for (std::uint32_t i = 0; i < 96; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? i + 1 : i + 499) << i;
}

TEST_P(ControlFlow, AWarpBarrierInBothArmsOrdersSharedMemory) {
  const auto out = run_block(kernel_text(R"(
    .shared .align 4 .b8 cells[128];
    mov.u32 %r5, cells;
    shl.b32 %r6, %r1, 2;
    add.u32 %r5, %r5, %r6;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra lower;
    bar.warp.sync 0xffffffff;
    ld.shared.u32 %r3, [%r5+-64];
    bra.uni join;
  lower:
    add.u32 %r4, %r1, 900;
    st.shared.u32 [%r5], %r4;
    bar.warp.sync 0xffffffff;
    mov.u32 %r3, 1;
  join:
    st.global.u32 [%rd2], %r3;
    ret;)"),
                             32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 16 ? 1 : 900 + i - 16) << i;
}

TEST_P(ControlFlow, NamedBarriersWithCountsLetProducersRunAhead) {
  // Warp 0 arrives, warp 1 waits for its data; counts are of both warps.
  const auto out = run_block(kernel_text(R"(
    .shared .align 4 .b8 cells[128];
    mov.u32 %r5, cells;
    and.b32 %r7, %r1, 31;
    shl.b32 %r6, %r7, 2;
    add.u32 %r5, %r5, %r6;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra producer;
    bar.sync 3, 64;
    ld.shared.u32 %r3, [%r5];
    st.global.u32 [%rd2], %r3;
    ret;
  producer:
    mul.lo.u32 %r4, %r1, 3;
    st.shared.u32 [%r5], %r4;
    bar.arrive 3, 64;
    st.global.u32 [%rd2], %r1;
    ret;)"),
                             64, GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 32 ? i : 3 * (i - 32)) << i;
}

TEST_P(ControlFlow, AWarpThatArrivesAndThenWaitsCountsTwice) {
  // Two warps take turns: each lets the other go on, and warp 0 itself at first.
  const auto out = run_block(kernel_text(R"(
    .shared .align 4 .b8 cell[4];
    mov.u32 %r5, cell;
    shr.u32 %r6, %r1, 5;
    add.u32 %r7, %r6, 1;
    xor.b32 %r8, %r6, 1;
    add.u32 %r8, %r8, 1;
    mov.u32 %r4, 0;
    setp.ne.u32 %p1, %r6, 0;
    @%p1 bra turn;
    st.shared.u32 [%r5], %r4;
    bar.arrive %r7, 64;
  turn:
    bar.sync %r7, 64;
    ld.shared.u32 %r3, [%r5];
    add.u32 %r3, %r3, %r7;
    bar.warp.sync 0xffffffff;
    st.shared.u32 [%r5], %r3;
    bar.arrive %r8, 64;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 10;
    @%p2 bra turn;
    st.global.u32 [%rd2], %r3;
    ret;)"),
                             64, GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 32 ? 28 : 30) << i;
}

TEST_P(ControlFlow, BarrierReductionsCombineAllThreads) {
  const auto out = run_block(kernel_text(R"(
    and.b32 %r2, %r1, 3;
    setp.eq.u32 %p1, %r2, 0;
    bar.red.popc.u32 %r3, 0, %p1;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, !%p1;
    selp.u32 %r4, 1000, 0, %p2;
    selp.u32 %r5, 100, 0, %p3;
    add.u32 %r3, %r3, %r4;
    add.u32 %r3, %r3, %r5;
    st.global.u32 [%rd2], %r3;
    ret;)"),
                             100, GetParam());
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(out[i], 125u) << i;
}

TEST_P(ControlFlow, ThreadsThatHaveEndedAreNotWaitedFor) {
  const auto out = run_block(kernel_text(R"(
    setp.gt.u32 %p1, %r1, 40;
    @%p1 exit;
    bar.sync 0;
    st.global.u32 [%rd2], 1;
    ret;)"),
                             64, GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i > 40 ? 0u : 1u) << i;
}

TEST_P(ControlFlow, ABarrierThatSomeNeverReachIsReported) {
  EXPECT_THROW(run_block(kernel_text(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra other;
    bar.sync 0;
    ret;
  other:
    bar.sync 1;
    ret;)"),
                         64, GetParam()),
               UserError);
}

TEST_P(ControlFlow, AnEndlessLoopIsReported) {
  try {
    run_block(kernel_text("loop:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;\n"
                          "@%p1 bra loop;\nret;"),
              32, GetParam());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("does not get on"), std::string::npos);
  }
}

TEST_P(ControlFlow, BlocksThatWaitForLaterBlocksFinish) {
  IsaBench bench(kernel_text(R"(
    mov.u32 %r2, %ctaid.x;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra signal;
  wait:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.lt.u32 %p2, %r3, 5;
    @%p2 bra wait;
    ret;
  signal:
    red.global.add.u32 [%rd1], 1;
    ret;)"),
                 GetParam());
  const auto out = bench.buffer(std::vector<std::uint32_t>{0});
  bench.run("k", {6, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(bench.values<std::uint32_t>(out, 1)[0], 5u);
}

}  // namespace
}  // namespace lockstep::isa::control_flow_test
