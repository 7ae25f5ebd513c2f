/// From PTX text to values: operands that reader, encoder, lowering and semantics must place alike.
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::ptx_test {
namespace {

LOCKSTEP_BOTH_FORMS(PtxSemantics);

std::vector<std::uint32_t> run(const std::string& body, bool lowered) {
  return run_block(kernel_text(body), 64, lowered);
}

TEST_P(PtxSemantics, DiscardedFirstPredicateKeepsItsPlace) {
  const auto out = run(R"(
setp.lt.u32 _|%p2, %r1, 5;
selp.b32 %r2, 7, 3, %p2;
st.global.u32 [%rd2], %r2;
ret;)",
                       GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 5 ? 3u : 7u) << i;
}

TEST_P(PtxSemantics, ConstantPredicates) {
  const auto out = run(R"(
mov.pred %p1, 1;
mov.pred %p2, 0;
setp.lt.or.u32 %p3, %r1, 5, !%p1;
xor.pred %p4, %p3, %p2;
selp.b32 %r2, 1, 2, %p4;
st.global.u32 [%rd2], %r2;
ret;)",
                       GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 5 ? 1u : 2u) << i;
}

TEST_P(PtxSemantics, CarriesChainThroughTheConditionCode) {
  const auto out = run(R"(
mov.u32 %r2, 0xfffffff0;
add.cc.u32 %r3, %r2, %r1;
addc.cc.u32 %r4, 0xffffffff, 0;
addc.u32 %r5, 10, 0;
st.global.u32 [%rd2], %r5;
ret;)",
                       GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 16 ? 10u : 11u) << i;
}

/// A subtraction's carry says that nothing was borrowed: 128-bit division compiled by nvcc adds it
/// up with addc, and subc takes away the complement of an addition's carry.
TEST_P(PtxSemantics, SumsAndDifferencesShareTheConditionCode) {
  const auto out = run(R"(
sub.cc.u32 %r2, %r1, 16;
addc.u32 %r3, 0, 0;
sub.cc.u32 %r2, %r1, 16;
subc.cc.u32 %r2, 5, 5;
addc.u32 %r4, 0, 0;
add.cc.u32 %r2, %r1, 0xfffffff0;
subc.u32 %r5, 40, 20;
sub.cc.u32 %r2, %r1, 16;
subc.u32 %r6, 40, 20;
mad.lo.cc.u32 %r2, %r1, 1, 0xfffffff0;
subc.u32 %r7, 40, 20;
shl.b32 %r4, %r4, 1;
shl.b32 %r5, %r5, 8;
shl.b32 %r6, %r6, 16;
shl.b32 %r7, %r7, 24;
or.b32 %r3, %r3, %r4;
or.b32 %r3, %r3, %r5;
or.b32 %r3, %r3, %r6;
or.b32 %r3, %r3, %r7;
st.global.u32 [%rd2], %r3;
ret;)",
                       GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 16 ? 0x13131300u : 0x14141403u) << i;
}

TEST_P(PtxSemantics, NarrowResultsExtendIntoWiderRegisters) {
  const auto out = run(R"(
add.u32 %r2, %r1, 0x1f0;
cvt.s8.s32 %r3, %r2;
cvt.u8.u32 %r4, %r2;
add.s32 %r5, %r3, %r4;
cvt.u16.u32 %rs1, %r2;
cvt.s32.s8 %r6, %rs1;
sub.s32 %r7, %r5, %r6;
st.global.u32 [%rd2], %r7;
ret;)",
                       GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], (i + 0x1f0) & 0xff) << i;
}

TEST_P(PtxSemantics, ShuffleVoteAndSelectionWork) {
  const auto out = run(R"(
shfl.sync.down.b32 %r2|%p1, %r1, 1, 31, 0xffffffff;
selp.b32 %r3, %r2, 1000, %p1;
setp.gt.u32 %p2, %r1, 40;
vote.sync.ballot.b32 %r4, %p2, 0xffffffff;
popc.b32 %r5, %r4;
mad.lo.u32 %r6, %r5, 10000, %r3;
st.global.u32 [%rd2], %r6;
ret;)",
                       GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t next = i % 32 == 31 ? 1000 : i + 1;
    EXPECT_EQ(out[i], next + (i < 32 ? 0 : 23) * 10000u) << i;
  }
}

TEST_P(PtxSemantics, PackedHalves) {
  const auto out = run(R"(
cvt.rn.f32.u32 %f1, %r1;
mov.f32 %f4, 0f3F800000;
cvt.rn.f16x2.f32 %r2, %f1, %f4;
fma.rn.f16x2 %r3, %r2, %r2, %r2;
mov.b32 {%rs1, %rs2}, %r3;
cvt.f32.f16 %f2, %rs2;
cvt.rzi.u32.f32 %r4, %f2;
cvt.f32.f16 %f3, %rs1;
cvt.rzi.u32.f32 %r5, %f3;
mad.lo.u32 %r6, %r5, 100000, %r4;
st.global.u32 [%rd2], %r6;
ret;)",
                       GetParam());
  for (std::uint32_t i = 0; i < 45; ++i)  // exact up to 2048
    EXPECT_EQ(out[i], 200000 + i * i + i) << i;
}

TEST_P(PtxSemantics, BytesAreRegistersOfAPack) {
  const auto out = run(R"(
.reg .b8 %b<2>;
cvt.u8.u32 %b0, %r1;
mov.b16 %rs1, {%b0, 7};
mov.b32 %r2, {%b0, 1, 2, %b0};
cvt.u32.u16 %r3, %rs1;
xor.b32 %r2, %r2, %r3;
st.global.u32 [%rd2], %r2;
ret;)",
                       GetParam());
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], (i | 0x020100 | i << 24) ^ (i | 0x700)) << i;
}

TEST_P(PtxSemantics, BlocksOfACooperativeGridMeet) {
  // The barrier that nvcc makes of grid.sync(): the first block's share turns the top bit over.
  IsaBench bench(kernel_text(R"(
mov.u32 %r8, %envreg2;
cvt.u64.u32 %rd3, %r8;
mov.u32 %r9, %envreg1;
cvt.u64.u32 %rd4, %r9;
bfi.b64 %rd5, %rd4, %rd3, 32, 32;
mov.u32 %r3, %nctaid.x;
mov.u32 %r4, %ctaid.x;
sub.u32 %r5, 0x80000001, %r3;
setp.eq.u32 %p1, %r4, 0;
selp.b32 %r5, %r5, 1, %p1;
setp.ne.u32 %p2, %r1, 0;
mul.wide.u32 %rd6, %r4, 4;
add.s64 %rd6, %rd1, %rd6;
mov.u32 %r10, 0;
mov.u32 %r12, 1;
round:
@!%p2 st.volatile.global.u32 [%rd6], %r12;
barrier.sync 0;
@%p2 bra met;
atom.add.release.gpu.u32 %r6, [%rd5+4], %r5;
wait:
ld.acquire.gpu.u32 %r7, [%rd5+4];
xor.b32 %r7, %r7, %r6;
setp.gt.s32 %p3, %r7, -1;
@%p3 bra wait;
met:
barrier.sync 0;
ld.volatile.global.u32 %r11, [%rd1];
ld.volatile.global.u32 %r13, [%rd1+8];
add.u32 %r12, %r11, %r13;
barrier.sync 0;
@%p2 bra again;
atom.add.release.gpu.u32 %r6, [%rd5+4], %r5;
wait2:
ld.acquire.gpu.u32 %r7, [%rd5+4];
xor.b32 %r7, %r7, %r6;
setp.gt.s32 %p3, %r7, -1;
@%p3 bra wait2;
again:
add.u32 %r10, %r10, 1;
setp.lt.u32 %p4, %r10, 5;
@%p4 bra round;
ret;)"),
                 GetParam());
  const std::uint64_t out = bench.buffer(std::vector<std::uint32_t>(4));
  bench.run("k", {4, 1, 1}, {40, 1, 1}, out);
  EXPECT_EQ(bench.values<std::uint32_t>(out, 4), (std::vector<std::uint32_t>{16, 16, 16, 16}));
}

TEST_P(PtxSemantics, TheMachinesSizeIsThatOfTheLaunch) {
  IsaBench bench(kernel_text(R"(
mov.u32 %r2, %nsmid;
mov.u32 %r3, %nwarpid;
mad.lo.u32 %r2, %r2, 100, %r3;
st.global.u32 [%rd2], %r2;
ret;)"),
                 GetParam());
  bench.machine = {.sms = 4, .warps_of_an_sm = 48};
  const std::uint64_t out = bench.buffer(std::vector<std::uint32_t>(1));
  bench.run("k", {1, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(bench.values<std::uint32_t>(out, 1)[0], 448u);
}

}  // namespace
}  // namespace lockstep::isa::ptx_test
