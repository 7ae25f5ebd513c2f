/// A grid that an SM is taken from, at any moment and again and again: its blocks leave with their
/// contexts or run to their end, and memory ends as if nothing had happened.
/// Source: 002, section II; preemption.md, section 2; architecture.md, section 8, rules 4 and 5.
#include "tests/unit/sm/turnover/stopped_grid.hpp"

#include <gtest/gtest.h>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::stopped_grid_test {
namespace {

/// Neighbours exchange values through shared memory in every round; a local array counts rounds.
constexpr const char* rounds = R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  add.u64 %rd4, %rd0, %rd2;
  mul.wide.u32 %rd5, %r1, 4;
  mov.u64 %rd6, room;
  add.u64 %rd6, %rd6, %rd5;
  xor.b32 %r5, %r1, 33;
  mul.wide.u32 %rd5, %r5, 4;
  mov.u64 %rd7, room;
  add.u64 %rd7, %rd7, %rd5;
  mov.u64 %rd8, own;
  ld.global.u32 %r6, [%rd3];
  mov.u32 %r7, 0;
again:
  st.shared.u32 [%rd6], %r6;
  bar.sync 0;
  ld.shared.u32 %r8, [%rd7];
  bar.sync 0;
  mad.lo.u32 %r6, %r6, 3, %r8;
  st.local.u32 [%rd8], %r6;
  and.b32 %r9, %r6, 64;
  setp.eq.u32 %p1, %r9, 0;
  @%p1 bra skip;
  nanosleep.u32 20;
  atom.global.add.u32 %r10, [%rd0+16384], 1;
skip:
  ld.local.u32 %r6, [%rd8];
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 6;
  @%p2 bra again;
  st.global.u32 [%rd4], %r6;
)";
constexpr const char* declarations =
    ".shared .align 8 .b8 room[256];\n"
    ".local .align 8 .b8 own[16];\n";

class StoppedGrid : public testing::TestWithParam<ContextKind>, protected GridThatIsStopped {
 protected:
  StoppedGrid() : GridThatIsStopped(kernel_of(rounds, declarations)) {
    options.contexts = GetParam();
  }
};

TEST_P(StoppedGrid, ItsBlocksLeaveAtAnyMomentAndReturnWithAllTheyHad) {
  const Outcome whole = run({}, true);
  ASSERT_GT(whole.end, 1500);
  for (std::int64_t stop = 20; stop < 1500; stop += 17) {
    const Outcome stopped = run({stop}, true);
    ASSERT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_EQ(stopped.saved(), 3u) << stop;
    EXPECT_EQ(stopped.restored(), 3u) << stop;
    EXPECT_EQ(stopped.stopped, 1u) << stop;
  }
}

TEST_P(StoppedGrid, ItsBlocksMayLeaveAgainBeforeTheyHaveReturned) {
  const Outcome whole = run({}, true);
  for (std::int64_t pause = 5; pause < 400; pause += 31)
    for (std::int64_t stop = 100; stop < 300; stop += 67) {
      SCOPED_TRACE(pause);
      const Outcome stopped =
          run({stop, stop + pause + 3, stop + 2 * pause + 50, stop + 3 * pause + 77}, true, pause);
      ASSERT_EQ(stopped.memory, whole.memory) << stop;
      EXPECT_EQ(stopped.restored(), stopped.saved()) << stop;
    }
}

TEST_P(StoppedGrid, DrainedItsBlocksRunToTheirEndAndOthersDoNotStart) {
  const Outcome whole = run({}, false);
  const Outcome drained = run({400}, false, 20'000);
  EXPECT_EQ(drained.memory, whole.memory);
  EXPECT_EQ(drained.saved(), 0u);
  EXPECT_EQ(drained.stopped, 1u);
  EXPECT_GT(drained.end, 20'400);
}

INSTANTIATE_TEST_SUITE_P(EveryKind, StoppedGrid,
                         testing::Values(ContextKind::occupied, ContextKind::live,
                                         ContextKind::live_compressed,
                                         ContextKind::live_compressed_block),
                         [](const auto& kind) {
                           return variant_name(
                               context_kinds().words[static_cast<std::size_t>(kind.param)]);
                         });

}  // namespace
}  // namespace lockstep::stopped_grid_test
