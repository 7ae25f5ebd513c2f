/// Litmus tests of the memory model: what synchronizes in real programs.
#include "tests/properties/litmus/litmus_bench.hpp"

namespace lockstep::testing::litmus_test {
namespace {

// threadFenceReduction: the block that counts last adds up what all blocks left.
TEST(Litmus, TheLastBlockSeesThePartialSumsOfAll) {
  const std::string body = R"(
mad.wide.u32 %rd4, %r2, 4, %rd1;
ld.global.u32 %r6, [%rd1];
ld.global.u32 %r6, [%rd1+32];
setp.ne.u32 %p1, %r1, 0;
@%p1 bra counted;
mad.lo.u32 %r7, %r2, 17, 5;
st.global.u32 [%rd4], %r7;
membar.gl;
atom.global.inc.u32 %r8, [%rd2], 100000;
st.shared.u32 [room], %r8;
counted:
bar.sync 0;
ld.shared.u32 %r9, [room];
add.u32 %r10, %r4, -1;
setp.ne.u32 %p2, %r9, %r10;
@%p2 bra done;
membar.gl;
setp.ge.u32 %p3, %r1, %r4;
@%p3 bra done;
mad.wide.u32 %rd5, %r1, 4, %rd1;
ld.global.u32 %r11, [%rd5];
red.global.add.u32 [%rd3], %r11;
done:
)";
  expect_one_result(kernel("reduce", body), launch("reduce", 12, 64), false);
}

// Blocks pass a token from one to the next by a volatile flag.
TEST(Litmus, AFlagSpinsAcrossBlocks) {
  const std::string body = R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra done;
wait:
ld.volatile.global.u32 %r6, [%rd2];
setp.ne.u32 %p2, %r6, %r2;
@%p2 bra wait;
mad.wide.u32 %rd4, %r2, 4, %rd3;
mad.lo.u32 %r7, %r6, 3, 1;
st.global.u32 [%rd4], %r7;
add.u32 %r8, %r6, 1;
st.volatile.global.u32 [%rd2], %r8;
done:
)";
  expect_one_result(kernel("token", body), launch("token", 2, 32));
}

// A lock taken with cas and given back with exch protects a plain counter.
TEST(Litmus, ALockProtectsACounter) {
  const std::string body = R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra done;
mov.u32 %r10, 0;
again:
atom.global.cas.b32 %r6, [%rd2], 0, 1;
setp.ne.u32 %p2, %r6, 0;
@%p2 bra again;
membar.gl;
ld.global.u32 %r7, [%rd3];
add.u32 %r7, %r7, 1;
st.global.u32 [%rd3], %r7;
membar.gl;
atom.global.exch.b32 %r8, [%rd2], 0;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p3, %r10, 5;
@%p3 bra again;
done:
)";
  // An oldest-first scheduler may let the spinning warps keep the holder from its turn for ever.
  expect_one_result(kernel("lock", body), launch("lock", 7, 32), false,
                    {"policies.warp_scheduler=lrr"});
}

// A stale copy in L1 is allowed within a kernel, but not in the next one.
TEST(Litmus, TheNextKernelSeesWhatOtherSmsWrote) {
  const std::string write = R"(
mad.wide.u32 %rd4, %r5, 4, %rd1;
ld.global.u32 %r6, [%rd4+0];
xor.b32 %r7, %r2, 1;
mad.lo.u32 %r8, %r7, %r3, %r1;
mad.wide.u32 %rd5, %r8, 4, %rd1;
ld.global.u32 %r9, [%rd5];
and.b32 %r9, %r9, 0;
add.u32 %r10, %r5, 500;
add.u32 %r10, %r10, %r9;
st.global.u32 [%rd4], %r10;
)";
  const std::string read = R"(
xor.b32 %r7, %r2, 1;
mad.lo.u32 %r8, %r7, %r3, %r1;
mad.wide.u32 %rd5, %r8, 4, %rd1;
ld.global.u32 %r9, [%rd5];
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r9;
)";
  expect_one_result(kernel("before", write) + kernel("after", read),
                    launch("before", 4, 64) + launch("after", 4, 64), false);
}

// Atomics go to L2 past a copy in L1; the same thread then reads what the atomic left.
TEST(Litmus, AnAtomicIsSeenByTheCachedLoadsOfItsThread) {
  const std::string body = R"(
mad.wide.u32 %rd4, %r5, 4, %rd1;
ld.global.u32 %r6, [%rd4];
add.u32 %r7, %r5, 3;
red.global.add.u32 [%rd4], %r7;
ld.global.u32 %r8, [%rd4];
atom.global.add.u32 %r9, [%rd4], 10;
ld.global.u32 %r10, [%rd4];
st.global.u32 [%rd4], %r1;
ld.global.u32 %r11, [%rd4];
atom.global.exch.b32 %r12, [%rd4], %r5;
ld.global.u32 %r13, [%rd4];
mad.lo.u32 %r14, %r8, 7, %r9;
mad.lo.u32 %r14, %r14, 7, %r10;
mad.lo.u32 %r14, %r14, 7, %r11;
mad.lo.u32 %r14, %r14, 7, %r12;
mad.lo.u32 %r14, %r14, 7, %r13;
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r14;
)";
  expect_one_result(kernel("atomics", body), launch("atomics", 4, 128), false);
}

TEST(Litmus, BothArmsOfABranchMeetAtABarrier) {
  const std::string body = R"(
mad.lo.u32 %r6, %r1, 4, 0;
mov.u32 %r7, room;
add.u32 %r6, %r6, %r7;
xor.b32 %r8, %r1, 1;
mad.lo.u32 %r8, %r8, 4, %r7;
and.b32 %r9, %r1, 3;
setp.eq.u32 %p1, %r9, 0;
@%p1 bra other;
st.shared.u32 [%r6], %r5;
bar.sync 0;
ld.shared.u32 %r10, [%r8];
bra.uni join;
other:
add.u32 %r11, %r5, 7000;
st.shared.u32 [%r6], %r11;
bar.sync 0;
ld.shared.u32 %r10, [%r8];
add.u32 %r10, %r10, 1;
join:
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r10;
)";
  expect_one_result(kernel("arms", body), launch("arms", 4, 128), false);
}

TEST(Litmus, BothArmsOfABranchMeetAtAWarpBarrier) {
  const std::string body = R"(
mad.lo.u32 %r6, %r1, 4, 0;
mov.u32 %r7, room;
add.u32 %r6, %r6, %r7;
xor.b32 %r8, %r1, 1;
mad.lo.u32 %r8, %r8, 4, %r7;
and.b32 %r9, %r1, 1;
setp.eq.u32 %p1, %r9, 0;
@%p1 bra other;
st.shared.u32 [%r6], %r5;
bar.warp.sync 0xffffffff;
ld.shared.u32 %r10, [%r8];
bra.uni join;
other:
add.u32 %r11, %r5, 9000;
st.shared.u32 [%r6], %r11;
bar.warp.sync 0xffffffff;
ld.shared.u32 %r10, [%r8];
add.u32 %r10, %r10, 1;
join:
bar.warp.sync 0xffffffff;
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r10;
)";
  expect_one_result(kernel("arms", body), launch("arms", 4, 96), false);
}

// Values pass between blocks of a grid-wide barrier made of atomics, several rounds.
TEST(Litmus, AGridBarrierOfAtomicsOrdersRounds) {
  const std::string body = R"(
mov.u32 %r6, 0;
round:
mad.wide.u32 %rd4, %r5, 4, %rd1;
add.u32 %r7, %r2, 1;
setp.eq.u32 %p1, %r7, %r4;
selp.b32 %r7, 0, %r7, %p1;
mad.lo.u32 %r8, %r7, %r3, %r1;
mad.wide.u32 %rd5, %r8, 4, %rd1;
ld.global.u32 %r9, [%rd4];
mad.lo.u32 %r9, %r9, 3, %r5;
st.global.u32 [%rd4], %r9;
membar.gl;
bar.sync 0;
setp.ne.u32 %p2, %r1, 0;
@%p2 bra waited;
atom.add.u32 %r10, [%rd2], 1;
mad.lo.u32 %r11, %r6, 2, 1;
mul.lo.u32 %r12, %r4, %r11;
spin:
ld.acquire.gpu.global.u32 %r13, [%rd2];
setp.lt.u32 %p3, %r13, %r12;
@%p3 bra spin;
waited:
bar.sync 0;
ld.global.u32 %r14, [%rd5];
membar.gl;
bar.sync 0;
@%p2 bra left;
atom.add.u32 %r10, [%rd2], 1;
add.u32 %r12, %r12, %r4;
leave:
ld.acquire.gpu.global.u32 %r13, [%rd2];
setp.lt.u32 %p3, %r13, %r12;
@%p3 bra leave;
left:
bar.sync 0;
xor.b32 %r14, %r14, %r9;
st.global.u32 [%rd4], %r14;
add.u32 %r6, %r6, 1;
setp.lt.u32 %p4, %r6, 4;
@%p4 bra round;
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r14;
)";
  expect_one_result(kernel("rounds", body), launch("rounds", 2, 64));
}

}  // namespace
}  // namespace lockstep::testing::litmus_test
