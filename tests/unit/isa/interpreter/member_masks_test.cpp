// Lanes of one path that name different member masks exchange in groups of their own.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/load.hpp"

namespace lockstep::isa::member_masks_test {
namespace {

/// Runs `exchange`, which makes %r9 of %r1 (the lane), %r2 (its half's mask) and %p1 (lane < 20),
/// and returns %r9 by lane.
std::array<std::uint32_t, 32> run(const std::string& exchange, bool lowered) {
  const Module module = load_module_text(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_out) {
  .reg .pred %p<4>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [k_out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p2, %r1, 16;
  selp.b32 %r2, 0xffff, 0xffff0000, %p2;
  setp.lt.u32 %p1, %r1, 20;
  )" + exchange + R"(
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r9;
  ret;
}
)",
                                         "k.ptx");
  constexpr std::uint64_t out = first_global_address;
  FlatMemory memory;
  memory.map(out, 128);
  Launch launch{.module = module, .block = {32, 1, 1}, .parameters = {}, .lowered = lowered};
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &out, 8);
  interpret(launch, memory);
  std::array<std::uint32_t, 32> result;
  memory.read(out, result.data(), sizeof result);
  return result;
}

/// The value of each half of the warp.
void expect_halves(const std::string& exchange, std::uint32_t low, std::uint32_t high) {
  for (const bool lowered : {false, true}) {
    const std::array<std::uint32_t, 32> result = run(exchange, lowered);
    for (unsigned lane = 0; lane < 32; ++lane) {
      ASSERT_EQ(result[lane], lane < 16 ? low : high) << exchange << ", lane " << lane;
    }
  }
}

TEST(MemberMasks, BallotHoldsTheVotesOfTheMembers) {
  expect_halves("vote.sync.ballot.b32 %r9, %p1, %r2;", 0x0000ffff, 0x000f0000);
}

TEST(MemberMasks, AllAndAnyAskTheMembers) {
  expect_halves("vote.sync.all.pred %p3, %p1, %r2; selp.u32 %r9, 1, 0, %p3;", 1, 0);
  expect_halves(
      "setp.gt.u32 %p1, %r1, 19; vote.sync.any.pred %p3, %p1, %r2; "
      "selp.u32 %r9, 1, 0, %p3;",
      0, 1);
}

TEST(MemberMasks, MatchComparesTheMembers) {
  expect_halves("mov.u32 %r3, 7; match.any.sync.b32 %r9, %r3, %r2;", 0x0000ffff, 0xffff0000);
  expect_halves("shr.u32 %r3, %r1, 4; match.all.sync.b32 %r9, %r3, %r2;", 0x0000ffff, 0xffff0000);
}

TEST(MemberMasks, ReductionTakesTheMembers) {
  expect_halves("redux.sync.add.u32 %r9, %r1, %r2;", 120, 376);
  expect_halves("redux.sync.max.u32 %r9, %r1, %r2;", 15, 31);
}

}  // namespace
}  // namespace lockstep::isa::member_masks_test
