/// A grid that an SM is taken from, at any moment and again and again: its blocks leave with their
/// contexts or run to their end, and memory ends as if nothing had happened.
/// Source: 002, section II; preemption.md, section 2; architecture.md, section 8, rules 4 and 5.
#include "tests/unit/sm/turnover/stopped_grid.hpp"

#include <gtest/gtest.h>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::stopped_grid_test {
namespace {

class StoppedGrid : public testing::TestWithParam<ContextKind>, protected GridThatIsStopped {
 protected:
  StoppedGrid() : GridThatIsStopped(kernel_of(stopped_grid::rounds, stopped_grid::declarations)) {
    options.contexts = GetParam();
  }
};

TEST_P(StoppedGrid, ItsBlocksLeaveAtAnyMomentAndReturnWithAllTheyHad) {
  const Outcome whole = run({}, Technique::save);
  ASSERT_GT(whole.end, 1500);
  for (std::int64_t stop = 20; stop < 1500; stop += 17) {
    const Outcome stopped = run({stop}, Technique::save);
    ASSERT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_EQ(stopped.saved(), 3u) << stop;
    EXPECT_EQ(stopped.restored(), 3u) << stop;
    EXPECT_EQ(stopped.stopped, 1u) << stop;
  }
}

TEST_P(StoppedGrid, ItsBlocksMayLeaveAgainBeforeTheyHaveReturned) {
  const Outcome whole = run({}, Technique::save);
  for (std::int64_t pause = 5; pause < 400; pause += 31)
    for (std::int64_t stop = 100; stop < 300; stop += 67) {
      SCOPED_TRACE(pause);
      const Outcome stopped =
          run({stop, stop + pause + 3, stop + 2 * pause + 50, stop + 3 * pause + 77},
              Technique::save, pause);
      ASSERT_EQ(stopped.memory, whole.memory) << stop;
      EXPECT_EQ(stopped.restored(), stopped.saved()) << stop;
    }
}

TEST_P(StoppedGrid, DrainedItsBlocksRunToTheirEndAndOthersDoNotStart) {
  const Outcome whole = run({}, Technique::drain);
  const Outcome drained = run({400}, Technique::drain, 20'000);
  EXPECT_EQ(drained.memory, whole.memory);
  EXPECT_EQ(drained.saved(), 0u);
  EXPECT_EQ(drained.stopped, 1u);
  EXPECT_GT(drained.end, 20'400);
}

TEST_P(StoppedGrid, WithoutTrafficItsBlocksReturnWithAllTheyHadAsWell) {
  const Outcome whole = run({}, Technique::save);
  options.traffic = ContextTraffic::share;
  for (std::int64_t stop = 20; stop < 1500; stop += 97) {
    const Outcome stopped = run({stop, stop + 2100}, Technique::save);
    ASSERT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_GE(stopped.restored(), 3u) << stop;
    EXPECT_EQ(stopped.context_requests, 0u) << stop;
  }
}

TEST_P(StoppedGrid, InPlaceItsBlocksReturnToWhatTheyHaveLeftOnChip) {
  const Outcome whole = run({}, Technique::save);
  const Outcome moved = run({400}, Technique::save);
  constexpr std::uint8_t both = in_place::registers | in_place::shared;
  keeps = {in_place::registers, in_place::shared, both, both, in_place::registers, 0};
  for (std::int64_t stop = 20; stop < 1500; stop += 47) {
    const Outcome stopped = run({stop, stop + 2100}, Technique::save);
    ASSERT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_EQ(stopped.restored(), stopped.saved()) << stop;
  }
  const Outcome kept = run({400}, Technique::save);
  const auto part = [](const Outcome& outcome, SmStatistics::ContextPart which) {
    return outcome.counts.context_parts[which].value();
  };
  EXPECT_EQ(part(moved, SmStatistics::kept), 0u);
  EXPECT_EQ(part(kept, SmStatistics::kept) + kept.counts.context_bytes_saved.value(),
            moved.counts.context_bytes_saved.value())
      << "what is kept does not move";
  EXPECT_EQ(part(kept, SmStatistics::shared_saved), 256u) << "of the first of three";
  EXPECT_LT(kept.counts.context_move_cycles.value(), moved.counts.context_move_cycles.value());
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
