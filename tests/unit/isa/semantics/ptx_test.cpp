/// From PTX text to values: operands that reader, encoder, lowering and semantics must place alike.
#include "tests/unit/isa/bench.hpp"

namespace lockstep::isa {
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

}  // namespace
}  // namespace lockstep::isa
