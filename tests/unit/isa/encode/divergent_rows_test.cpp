/// What a divergent warp may need at a preemption point.
/// Source: 002, section III.B; preemption.md, sections 3.2 and 17.
#include "models/isa/encode/divergent_rows.hpp"

#include <gtest/gtest.h>

#include "models/isa/load.hpp"

namespace lockstep::isa::divergent_rows_test {
namespace {

/// One arm of a branch has a loop with a point in it, the other one reads a register of its own,
/// and so does the place where they meet.
constexpr const char* before = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
.reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
add.u32 %r11, %r2, 11;
add.u32 %r12, %r2, 12;
add.u32 %r13, %r2, 13;
setp.eq.u32 %p1, %r2, %r1;
@%p1 bra OTHER;
mov.u32 %r3, 0;
AGAIN:
add.u32 %r3, %r3, %r11;
setp.lt.u32 %p2, %r3, %r1;
@%p2 bra AGAIN;
st.global.u32 [%rd1], %r3;
bra.uni MEET;
OTHER:
st.global.u32 [%rd1+4], %r12;
MEET:
)";
constexpr const char* after = R"(
st.global.u32 [%rd1+8], %r13;
ret;
})";

Program program(const std::string& meet) {
  LoweringOptions options = LoweringOptions::none();
  options.preemption_points = true;
  return load_module_text(before + meet + after, "arms.ptx", options).kernels[0].lowered;
}

/// The register that the store with this offset writes to memory.
unsigned stored_at(const Program& program, std::int32_t offset) {
  for (const Instruction& instruction : program.instructions)
    if (instruction.category == Category::store && instruction.offset == offset)
      return instruction.source[1].row();
  ADD_FAILURE();
  return 0;
}

TEST(DivergentRows, HoldWhatTheOtherArmAndTheMeetingPointNeed) {
  const Program kernel = program("");
  const auto rows = divergent_rows(kernel);
  ASSERT_EQ(rows.size(), kernel.instructions.size());
  unsigned points = 0;
  for (std::size_t pc = 0; pc < rows.size(); ++pc) {
    const auto holds = [&](std::int32_t offset) {
      const unsigned row = stored_at(kernel, offset);
      return (rows[pc][row / 64] >> row % 64 & 1) != 0;
    };
    if ((kernel.instructions[pc].flags & flag_preemption_point) == 0) {
      EXPECT_EQ(rows[pc], (std::array<std::uint64_t, 4>{}));
      continue;
    }
    ++points;
    EXPECT_TRUE(holds(0)) << "its own";
    EXPECT_TRUE(holds(4)) << "the other arm's";
    EXPECT_FALSE(kernel.live_before(pc, stored_at(kernel, 4))) << "which is not live here";
    EXPECT_TRUE(holds(8)) << "where they meet";
  }
  EXPECT_EQ(points, 1u);
}

TEST(DivergentRows, AreUnknownWherePathsMayWaitInAnArm) {
  EXPECT_TRUE(divergent_rows(program("bar.warp.sync -1;")).empty());
  EXPECT_TRUE(divergent_rows(program("bar.sync 0;")).empty());
}

}  // namespace
}  // namespace lockstep::isa::divergent_rows_test
