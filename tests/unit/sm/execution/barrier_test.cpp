#include <gmock/gmock.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::barrier_test {
namespace {

constexpr const char* buffer = ".shared .align 4 .b8 buffer[4096];\n";
const std::string places =
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd0, %rd2;\n"
    "mov.u32 %r30, buffer;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r2, %r2, %r30;\n";

std::vector<std::uint32_t> run(const std::string& body, std::uint32_t threads) {
  IdealMachine machine(kernel_of(places + body, buffer), {});
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run();
  std::vector<std::uint32_t> values;
  for (std::uint32_t i = 0; i < threads; ++i) values.push_back(machine.get<std::uint32_t>(4 * i));
  return values;
}

TEST(Barrier, SyncOrdersSharedMemoryOfAllWarps) {
  const auto values = run(R"(
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    mov.u32 %r5, 255;
    sub.u32 %r5, %r5, %r1;
    shl.b32 %r5, %r5, 2;
    add.u32 %r5, %r5, %r30;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd3], %r6;
  )",
                          256);
  for (std::uint32_t i = 0; i < 256; ++i) ASSERT_EQ(values[i], 255 - i);
}

TEST(Barrier, ExitedThreadsAreNotWaitedFor) {
  const auto values = run(R"(
    setp.ge.u32 %p1, %r1, 64;
    @%p1 bra gone;
    setp.eq.u32 %p2, %r1, 3;
    @%p2 bra gone;
    bar.sync 0;
    st.global.u32 [%rd3], 9;
  gone:
  )",
                          128);
  EXPECT_EQ(values[0], 9u);
  EXPECT_EQ(values[3], 0u);
  EXPECT_EQ(values[63], 9u);
  EXPECT_EQ(values[64], 0u);
}

TEST(Barrier, ABlockThatCanNeverGoOnIsReported) {
  const std::string two_barriers = R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra other;
    bar.sync 1, 128;
    bra done;
  other:
    bar.sync 2, 128;
  done:
  )";
  const std::string ended = R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra done;
    bar.sync 1, 128;
  done:
  )";
  const std::string lanes = R"(
    setp.lt.u32 %p1, %r1, 1;
    @%p1 bra other;
    bar.warp.sync 0xffffffff;
    bra done;
  other:
    bar.sync 0, 128;
  done:
  )";
  for (const auto& [body, thread] : std::initializer_list<std::pair<std::string, std::string>>{
           {two_barriers, "(0, 0, 0): waits at a barrier for ever"},
           {ended, "(32, 0, 0): waits at a barrier for ever"},
           {lanes,
            "(1, 0, 0): waits for ever for lane 0 of its warp, which the mask 0xffffffff"}}) {
    IdealMachine machine(kernel_of(places + body, buffer), {});
    machine.launch("k", {1, 1, 1}, {128, 1, 1}, {machine.address(0), machine.address(0), 0});
    machine.run_to(1000);
    ASSERT_EQ(machine.told.size(), 1u) << body;
    EXPECT_THAT(machine.told[0].text,
                testing::AllOf(testing::StartsWith("violation test.ptx:"),
                               testing::HasSubstr("kernel k, block (0, 0, 0), thread " + thread)));
  }
}

TEST(Barrier, PartsOfAWarpMeetAcrossABranch) {
  const auto values = run(R"(
    st.shared.u32 [%r2], %r1;
    and.b32 %r5, %r1, 1;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra even;
    bar.sync 0;
    bra.uni both;
  even:
    bar.sync 0;
  both:
    xor.b32 %r6, %r1, 63;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r6, %r30;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd3], %r7;
  )",
                          64);
  for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(values[i], i ^ 63u);
}

TEST(Barrier, ProducersArriveAndConsumersWait) {
  const auto values = run(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra produce;
    bar.sync 1, 64;
    sub.u32 %r6, %r2, 128;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd3], %r7;
    bra.uni done;
  produce:
    add.u32 %r5, %r1, 500;
    st.shared.u32 [%r2], %r5;
    bar.arrive 1, 64;
  done:
  )",
                          64);
  for (std::uint32_t i = 32; i < 64; ++i) ASSERT_EQ(values[i], 500 + i - 32);
}

/// A count is of warps, in threads: the block's last warp has 16 threads and counts as 32.
TEST(Barrier, ACountTakesAPartlyFilledWarpForAWholeOne) {
  const auto values = run(R"(
    add.u32 %r5, %r1, 300;
    st.shared.u32 [%r2], %r5;
    bar.sync 1, 64;
    xor.b32 %r6, %r1, 32;
    setp.lt.u32 %p1, %r6, 48;
    @!%p1 mov.u32 %r6, 0;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r6, %r30;
    ld.shared.u32 %r7, [%r6];
    setp.lt.u32 %p2, %r1, 100;
    bar.red.and.pred %p3, 2, 64, %p2;
    @!%p3 mov.u32 %r7, 1;
    st.global.u32 [%rd3], %r7;
  )",
                          48);
  for (std::uint32_t i = 0; i < 48; ++i)
    ASSERT_EQ(values[i], 300 + ((i ^ 32) < 48 ? i ^ 32 : 0)) << i;
}

TEST(Barrier, ReductionsCountPredicates) {
  const auto values = run(R"(
    setp.lt.u32 %p1, %r1, 70;
    bar.red.popc.u32 %r5, 0, %p1;
    bar.red.or.pred %p2, 0, %p1;
    bar.red.and.pred %p3, 0, %p1;
    selp.u32 %r6, 1000, 0, %p2;
    selp.u32 %r7, 5000, 0, %p3;
    add.u32 %r5, %r5, %r6;
    add.u32 %r5, %r5, %r7;
    st.global.u32 [%rd3], %r5;
  )",
                          96);
  for (std::uint32_t i = 0; i < 96; ++i) ASSERT_EQ(values[i], 1070u);
}

TEST(Barrier, ReductionsCountNegatedPredicates) {
  const auto values = run(R"(
    setp.lt.u32 %p1, %r1, 70;
    bar.red.popc.u32 %r5, 0, !%p1;
    st.global.u32 [%rd3], %r5;
  )",
                          96);
  for (std::uint32_t i = 0; i < 96; ++i) ASSERT_EQ(values[i], 26u);
}

TEST(Barrier, WarpBarrierJoinsBothArmsOfABranch) {
  const auto values = run(R"(
    st.shared.u32 [%r2], 0;
    and.b32 %r5, %r1, 1;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra even;
    st.shared.u32 [%r2], %r1;
    bar.warp.sync 0xffffffff;
    bra.uni both;
  even:
    bar.warp.sync 0xffffffff;
    ld.shared.u32 %r7, [%r2+4];
    st.global.u32 [%rd3], %r7;
  both:
  )",
                          32);
  for (std::uint32_t i = 0; i < 32; i += 2) ASSERT_EQ(values[i], i + 1);
}

}  // namespace
}  // namespace lockstep::barrier_test
