/// In which order warps of a block run: in short turns, the same each time.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::turns_test {
namespace {

LOCKSTEP_BOTH_FORMS(Turns);

/// All warps read a word; the first one overwrites it `gap` instructions later.
std::string overwritten(unsigned gap) {
  std::string text = R"(
.shared .align 4 .u32 word;
setp.eq.u32 %p1, %r1, 0;
@%p1 st.shared.u32 [word], 5;
bar.sync 0;
ld.shared.u32 %r2, [word];
mov.u32 %r3, %r2;
)";
  for (unsigned i = 0; i < gap; ++i) text += "mad.lo.u32 %r3, %r3, %r3, %r1;\n";
  return kernel_text(text + "@%p1 st.shared.u32 [word], %r3;\nst.global.u32 [%rd2], %r2;\nret;");
}

TEST_P(Turns, WordIsReadByAllWarpsBeforeOneOfThemOverwritesIt) {
  for (const unsigned gap : {0u, 1u, 20u, 3000u}) {
    const std::vector<std::uint32_t> read = run_block(overwritten(gap), 256, GetParam());
    EXPECT_EQ(std::count(read.begin(), read.end(), 5u), 256) << gap;
  }
}

/// Each warp takes a number again and again; what it got first and last.
TEST_P(Turns, NoWarpIsFarAheadOfTheOthers) {
  const std::vector<std::uint32_t> last = run_block(kernel_text(R"(
.shared .align 4 .u32 word;
and.b32 %r4, %r1, 31;
setp.ne.u32 %p1, %r4, 0;
@%p1 ret;
mov.u32 %r5, 0;
AGAIN:
atom.shared.add.u32 %r6, [word], 1;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p2, %r5, 500;
@%p2 bra AGAIN;
st.global.u32 [%rd2], %r6;
ret;)"),
                                                    128, GetParam());
  for (const unsigned thread : {0u, 32u, 64u, 96u}) EXPECT_GT(last[thread], 1950u);
}

TEST_P(Turns, AreTheSameEachTime) {
  const std::string text = kernel_text(R"(
.shared .align 4 .u32 word;
and.b32 %r4, %r1, 3;
AGAIN:
atom.shared.exch.b32 %r6, [word], %r1;
mad.lo.u32 %r7, %r7, 31, %r6;
sub.u32 %r4, %r4, 1;
setp.ne.s32 %p1, %r4, -30;
@%p1 bra AGAIN;
st.global.u32 [%rd2], %r7;
ret;)");
  EXPECT_EQ(run_block(text, 256, GetParam()), run_block(text, 256, GetParam()));
}

}  // namespace
}  // namespace lockstep::isa::turns_test
