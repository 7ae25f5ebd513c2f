/// A grid that an SM is taken from, at any moment and again and again: its blocks leave with their
/// contexts or run to their end, and memory ends as if nothing had happened.
/// Source: 002, section II; preemption.md, section 2; architecture.md, section 8, rules 4 and 5.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "models/noc/grid_messages.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
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
constexpr std::uint32_t blocks = 6, threads = 64;

class StoppedGrid : public testing::Test {
 protected:
  struct Outcome {
    std::vector<std::byte> memory;
    std::int64_t end = 0;
    std::uint64_t saved = 0, restored = 0, executed = 0;
    std::uint64_t flushed = 0, wasted = 0;
    std::size_t stopped = 0;
  };

  /// Stops the grid at each of the cycles, in ascending order, and resumes it `pause` later.
  Outcome run(const std::vector<std::int64_t>& stops, Technique technique,
              std::int64_t pause = 2000) {
    IdealMachine::Options options;
    options.follows_blocks = technique == Technique::flush;
    options.exception_scheme = scheme;
    if (saves)  // for the room; nothing faults
      options.block_switching = "{name: on-fault, extra_blocks: 8}";
    options.parameters.blocks = 3;
    options.ends_grids = false;
    IdealMachine machine(kernel_of(text,
                                   ".shared .align 8 .b8 room[256];\n"
                                   ".local .align 8 .b8 own[16];\n"),
                         options);
    for (std::uint32_t i = 0; i < blocks * threads; ++i)
      machine.put<std::uint32_t>(32768 + 4 * i, i * 2654435761u);
    machine.launch("k", {blocks, 1, 1}, {threads, 1, 1},
                   {machine.address(0), machine.address(32768), 0});
    std::size_t told = 0;
    Outcome outcome;
    const auto send_again = [&](std::int64_t cycle) {
      for (; told < machine.told.size(); ++told) {
        const std::string& said = machine.told[told].text;
        outcome.stopped += said.starts_with("stopped");
        if (!said.starts_with("returned") && !said.starts_with("flushed")) continue;
        const std::uint64_t block = std::stoull(said.substr(said.find(' ')));
        machine.post(0, cycle, MessageKind::start_block, BlockReference{0, 0, block});
      }
    };
    for (const std::int64_t stop : stops) {
      machine.run_to(stop);
      machine.post(0, stop, MessageKind::stop_grid, GridStop{0, technique, {}});
      machine.run_to(stop + pause);
      send_again(stop + pause + 1);
      machine.post(0, stop + pause, MessageKind::resume_grid, GridReference{0, 0});
    }
    if (!stops.empty()) {  // what was told after the last pause
      machine.run_to(stops.back() + pause + 600);
      send_again(stops.back() + pause + 600);
    }
    outcome.end = machine.run();
    outcome.memory = machine.memory();
    const SmStatistics::OfTenant& counts = machine.statistics().tenant[0];
    outcome.saved = counts.blocks_saved.value();
    outcome.restored = counts.blocks_restored.value();
    outcome.flushed = counts.blocks_flushed.value();
    outcome.wasted = counts.flushed_instructions.value();
    outcome.executed = counts.warp_instructions.value();
    EXPECT_EQ(counts.blocks.value(), blocks);
    return outcome;
  }
  void use_atomics(bool used) {
    const std::string atomic = "  atom.global.add.u32 %r10, [%rd0+16384], 1;\n";
    text = rounds;
    if (!used) text.erase(text.find(atomic), atomic.size());
  }

  std::string text = rounds, scheme = "replay-queue";
  bool saves = true;
};

TEST_F(StoppedGrid, ItsBlocksLeaveAtAnyMomentAndReturnWithAllTheyHad) {
  const Outcome whole = run({}, Technique::save);
  ASSERT_GT(whole.end, 1500);
  for (std::int64_t stop = 20; stop < 1500; stop += 17) {
    const Outcome stopped = run({stop}, Technique::save);
    ASSERT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_EQ(stopped.saved, 3u) << stop;
    EXPECT_EQ(stopped.restored, 3u) << stop;
    EXPECT_EQ(stopped.stopped, 1u) << stop;
  }
}

TEST_F(StoppedGrid, ItsBlocksMayLeaveAgainBeforeTheyHaveReturned) {
  const Outcome whole = run({}, Technique::save);
  for (std::int64_t pause = 5; pause < 400; pause += 31)
    for (std::int64_t stop = 100; stop < 300; stop += 67) {
      SCOPED_TRACE(pause);
      const Outcome stopped =
          run({stop, stop + pause + 3, stop + 2 * pause + 50, stop + 3 * pause + 77},
              Technique::save, pause);
      ASSERT_EQ(stopped.memory, whole.memory) << stop;
      EXPECT_EQ(stopped.restored, stopped.saved) << stop;
    }
}

TEST_F(StoppedGrid, DrainedItsBlocksRunToTheirEndAndOthersDoNotStart) {
  const Outcome whole = run({}, Technique::drain);
  const Outcome drained = run({400}, Technique::drain, 20'000);
  EXPECT_EQ(drained.memory, whole.memory);
  EXPECT_EQ(drained.saved, 0u);
  EXPECT_EQ(drained.stopped, 1u);
  EXPECT_GT(drained.end, 20'400);
}

TEST_F(StoppedGrid, ABlockThatCanBeRepeatedIsDroppedAndStartsAgain) {
  use_atomics(false);
  const Outcome whole = run({}, Technique::flush);
  for (const char* with : {"stall-on-fault", "replay-queue", "warp-disable-commit"})
    for (std::int64_t stop = 20; stop < whole.end - 400; stop += 61) {
      scheme = with;
      saves = scheme != "stall-on-fault";
      const Outcome stopped = run({stop}, Technique::flush);
      ASSERT_EQ(stopped.memory, whole.memory) << stop << " " << with;
      if (stop < 900) {  // later their threads have ended, and only answers are awaited
        EXPECT_EQ(stopped.flushed, 3u) << stop << " " << with;
      }
      EXPECT_EQ(stopped.saved, 0u);
      EXPECT_EQ(stopped.executed, whole.executed + stopped.wasted) << stop << " " << with;
      EXPECT_EQ(stopped.stopped, 1u) << stop;
    }
}

TEST_F(StoppedGrid, ABlockMayBeDroppedAgainAndAgain) {
  use_atomics(false);
  const Outcome whole = run({}, Technique::flush);
  const Outcome stopped = run({150, 400, 700, 900}, Technique::flush, 37);
  EXPECT_EQ(stopped.memory, whole.memory);
  EXPECT_GT(stopped.flushed, 6u);
}

TEST_F(StoppedGrid, ABlockThatCannotBeRepeatedIsSavedInstead) {
  const Outcome whole = run({}, Technique::flush);
  std::uint64_t flushed = 0, saved = 0;
  for (std::int64_t stop = 20; stop < 1500; stop += 61) {
    const Outcome stopped = run({stop}, Technique::flush);
    ASSERT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_EQ(stopped.flushed + stopped.saved, 3u) << stop;
    flushed += stopped.flushed;
    saved += stopped.saved;
  }
  EXPECT_GT(flushed, 5u);
  EXPECT_GT(saved, 5u);
}

TEST_F(StoppedGrid, WithoutRoomForItsContextItRunsToItsEnd) {
  saves = false;
  scheme = "stall-on-fault";
  const Outcome whole = run({}, Technique::flush);
  const Outcome stopped = run({1200}, Technique::flush, 20'000);
  EXPECT_EQ(stopped.memory, whole.memory);
  EXPECT_EQ(stopped.saved, 0u);
  EXPECT_LT(stopped.flushed, 3u);
  EXPECT_GT(stopped.end, 21'200);
}

}  // namespace
}  // namespace lockstep::stopped_grid_test
