/// Blocks of a grid that an SM is taken from stop at preemption points.
/// Source: 002, section IV.A; preemption.md, sections 4 and 17.
#include <gtest/gtest.h>

#include "models/vm/messages.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"
#include "tests/unit/sm/turnover/stopped_grid.hpp"

namespace lockstep::preemption_points_test {
namespace {

using S = SmStatistics;

/// Threads and where they read and write.
constexpr const char* prologue = R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  add.u64 %rd4, %rd0, %rd2;
  ld.global.u32 %r6, [%rd3];
  mov.u32 %r7, 0;
)";

/// Neighbours exchange values in every round; half of the threads take an arm, so that lanes wait.
constexpr const char* barriers = R"(
  mul.wide.u32 %rd5, %r1, 4;
  mov.u64 %rd6, room;
  add.u64 %rd6, %rd6, %rd5;
  xor.b32 %r5, %r1, 33;
  mul.wide.u32 %rd5, %r5, 4;
  mov.u64 %rd7, room;
  add.u64 %rd7, %rd7, %rd5;
again:
  st.shared.u32 [%rd6], %r6;
  bar.sync 0;
  ld.shared.u32 %r8, [%rd7];
  mad.lo.u32 %r9, %r6, 3, %r8;
  mul.lo.u32 %r10, %r9, 7;
  and.b32 %r11, %r6, 1;
  setp.eq.u32 %p1, %r11, 0;
  @%p1 bra other;
  add.u32 %r6, %r9, %r10;
  bra.uni meet;
other:
  xor.b32 %r6, %r10, %r9;
meet:
  bar.sync 0;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 20;
  @%p2 bra again;
  st.global.u32 [%rd4], %r6;
)";

/// Threads count for as many rounds as their numbers say, so that warp 0 waits for warp 1, at a
/// barrier that is no point: at the next one fewer registers are live.
constexpr const char* loops = R"(
  shl.b32 %r8, %r1, 2;
again:
  mad.lo.u32 %r6, %r6, 3, %r7;
  xor.b32 %r9, %r6, %r1;
  add.u32 %r6, %r9, 5;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p1, %r7, %r8;
  @%p1 bra again;
  bar.sync 0;
  st.global.u32 [%rd4], %r6;
  bar.sync 0;
)";

/// Odd threads go round in a loop, even ones read a register of their own, all a third: which arm
/// runs first is said by `odd`, and whether even threads wait in the middle of theirs by `wait`.
std::string arms(bool odd, const std::string& wait) {
  const std::string even = wait + "  xor.b32 %r6, %r6, %r12;\n";
  const std::string loop = R"(
again:
  mad.lo.u32 %r6, %r6, 3, %r11;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 150;
  @%p2 bra again;
)" + wait;
  return R"(
  add.u32 %r11, %r6, 11;
  add.u32 %r12, %r6, 12;
  add.u32 %r13, %r6, 13;
  and.b32 %r8, %r1, 1;
  setp.eq.u32 %p1, %r8, )" +
         std::string(odd ? "0" : "1") + ";\n  @%p1 bra other;\n" + (odd ? loop : even) +
         "  bra.uni meet;\nother:\n" + (odd ? even : loop) +
         "meet:\n  add.u32 %r6, %r6, %r13;\n  st.global.u32 [%rd4], %r6;\n";
}

GridThatIsStopped grid(const std::string& body) {
  GridThatIsStopped grid(kernel_with_points(prologue + body, ".shared .align 8 .b8 room[256];\n"));
  grid.options.contexts = ContextKind::live_compressed;
  grid.options.stops = StopPlaces::points;
  return grid;
}

/// Stops at many moments; the sum of what is counted.
S::OfTenant stop_everywhere(GridThatIsStopped& grid, std::int64_t until, std::int64_t step) {
  const GridThatIsStopped::Outcome whole = grid.run({}, Technique::save);
  EXPECT_GT(whole.end, until);
  S::OfTenant sum;
  for (std::int64_t stop = 20; stop < until; stop += step) {
    const GridThatIsStopped::Outcome stopped = grid.run({stop}, Technique::save);
    EXPECT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_EQ(stopped.stopped, 1u) << stop;
    EXPECT_EQ(stopped.restored(), stopped.saved()) << stop;
    sum.blocks_saved += stopped.saved();
    for (std::size_t where = 0; where < S::warp_stop_count; ++where)
      sum.context_stops[where] += stopped.counts.context_stops[where].value();
  }
  return sum;
}

TEST(PreemptionPoints, WarpsStopInFrontOfTheBarrierOfALoopOrWaitAtOne) {
  GridThatIsStopped stopped = grid(barriers);
  const S::OfTenant counts = stop_everywhere(stopped, 2500, 37);
  EXPECT_GT(counts.blocks_saved.value(), 30u);
  EXPECT_GT(counts.context_stops[S::at_barrier_point].value(), 30u);
  EXPECT_GT(counts.context_stops[S::at_barrier].value(), 0u);
  EXPECT_EQ(counts.context_stops[S::at_point].value(), 0u);
  EXPECT_EQ(counts.context_stops[S::elsewhere].value(), 0u);
}

TEST(PreemptionPoints, WarpsStopInALoopWhileOthersWaitAtAPlainBarrier) {
  GridThatIsStopped stopped = grid(loops);
  const S::OfTenant counts = stop_everywhere(stopped, 7000, 150);
  EXPECT_GT(counts.blocks_saved.value(), 30u);
  EXPECT_GT(counts.context_stops[S::at_point].value(), 30u);
  EXPECT_GT(counts.context_stops[S::at_barrier].value(), 10u);
  EXPECT_EQ(counts.context_stops[S::elsewhere].value(), 0u);
}

TEST(PreemptionPoints, ARegisterThatOnlyTheOtherArmReadsSurvives) {
  for (const bool odd : {true, false})
    for (const char* wait : {"", "  bar.warp.sync -1;\n"}) {
      SCOPED_TRACE(wait);
      GridThatIsStopped stopped = grid(arms(odd, wait));
      const S::OfTenant counts = stop_everywhere(stopped, 2000, 130);
      EXPECT_GT(counts.context_stops[S::at_point].value(), 10u);
      EXPECT_EQ(counts.context_stops[S::elsewhere].value(), 0u);
    }
}

TEST(PreemptionPoints, ABlockMayStopAgainWhereItHasStopped) {
  for (const char* body : {barriers, loops}) {
    GridThatIsStopped stopped = grid(body);
    const auto whole = stopped.run({}, Technique::save);
    for (std::int64_t pause = 5; pause < 400; pause += 61) {
      const auto outcome =
          stopped.run({300, 300 + pause + 3, 300 + 2 * pause + 50}, Technique::save, pause);
      EXPECT_EQ(outcome.memory, whole.memory) << pause;
      EXPECT_EQ(outcome.restored(), outcome.saved()) << pause;
    }
  }
}

/// Few instructions, no loop and no barrier.
TEST(PreemptionPoints, BlocksWithoutPointsRunToTheirEnd) {
  GridThatIsStopped stopped = grid("  st.global.u32 [%rd4], %r6;\n");
  const auto whole = stopped.run({}, Technique::save);
  for (std::int64_t stop = 20; stop < whole.end; stop += 13) {
    const auto outcome = stopped.run({stop}, Technique::save);
    EXPECT_EQ(outcome.memory, whole.memory) << stop;
    EXPECT_EQ(outcome.saved(), 0u) << stop;
    EXPECT_EQ(outcome.stopped, 1u) << stop;
  }
}

/// Each warp reads a page of its own before its loop: the fourth finds the log full of what the
/// others had squashed, which is issued again only when the block has been away.
TEST(PreemptionPoints, AWarpThatNeedsTheLogOfSquashedAccessesStopsWhereItIs) {
  const std::string body = R"(
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  mul.wide.u32 %rd2, %r2, 4096;
  add.u64 %rd3, %rd0, %rd2;
  ld.global.u32 %r6, [%rd3];
  mov.u32 %r7, 0;
again:
  mad.lo.u32 %r6, %r6, 3, %r7;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p1, %r7, 20;
  @%p1 bra again;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd4, %rd1, %rd4;
  st.global.u32 [%rd4], %r6;
)";
  constexpr std::uint32_t warps = 4, out = warps * page_bytes;
  IdealMachine::Options options;
  options.knows_pages = false;
  options.exception_scheme = "{name: operand-log, bytes: 768B}";  // three entries
  options.block_switching = "{name: on-fault, threshold: 1000000}";
  options.stops = StopPlaces::points;
  options.contexts = ContextKind::live;
  options.ends_grids = false;
  std::vector<std::byte> undisturbed;
  for (const bool stops : {false, true}) {
    IdealMachine machine(kernel_with_points(body), options);
    for (std::uint32_t w = 0; w < warps; ++w) {
      machine.put<std::uint32_t>(w * page_bytes, 100 + w);
      machine.pages[IdealMachine::page_of(w * page_bytes)] = {TranslationStatus::refused, {}, 9};
    }
    machine.launch("k", {1, 1, 1}, {32 * warps, 1, 1},
                   {IdealMachine::address(0), IdealMachine::address(out), 0});
    machine.run_to(2000);
    if (stops) machine.post(0, 2000, MessageKind::stop_grid, GridStop{0, Technique::save, {}});
    machine.run_to(6000);
    const auto& counts = machine.statistics().tenant[0];
    EXPECT_EQ(counts.squashed_instructions.value(), warps - 1);
    EXPECT_EQ(counts.blocks_saved.value(), stops ? 1 : 0);
    EXPECT_EQ(counts.context_stops[S::elsewhere].value(), stops ? 1 : 0);
    for (std::uint32_t w = 0; w < warps; ++w)
      machine.page_comes(IdealMachine::page_of(w * page_bytes));
    machine.run_to(9000);
    if (stops) machine.post(0, 9000, MessageKind::resume_grid, GridReference{0, 0});
    machine.run();
    if (!stops) undisturbed = machine.memory();
    EXPECT_EQ(machine.memory(), undisturbed);
  }
}

}  // namespace
}  // namespace lockstep::preemption_points_test
