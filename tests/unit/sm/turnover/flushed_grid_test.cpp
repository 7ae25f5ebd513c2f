/// A grid whose blocks are flushed: those that can be repeated are dropped at any moment and start
/// again, and memory ends as if nothing had happened.
/// Source: 003, section 4.1; preemption.md, section 2.2; architecture.md, section 8, rule 5.
#include "tests/unit/sm/machine/kernel_text.hpp"
#include "tests/unit/sm/turnover/stopped_grid.hpp"

namespace lockstep::flushed_grid_test {
namespace {

std::string without_atomics() {
  const std::string atomic = "  atom.global.add.u32 %r10, [%rd0+16384], 1;\n";
  std::string text = stopped_grid::rounds;
  return text.erase(text.find(atomic), atomic.size());
}

class FlushedGrid : public testing::Test, protected GridThatIsStopped {
 protected:
  explicit FlushedGrid(const std::string& text = without_atomics())
      : GridThatIsStopped(kernel_of(text, stopped_grid::declarations)) {}
};

class FlushedGridWithAtomics : public FlushedGrid {
 protected:
  FlushedGridWithAtomics() : FlushedGrid(stopped_grid::rounds) {}
};

TEST_F(FlushedGrid, ItsBlocksStartAgainUnderEveryScheme) {
  const Outcome whole = run({}, Technique::flush);
  for (const char* scheme : {"stall-on-fault", "replay-queue", "warp-disable-commit"})
    for (std::int64_t stop = 20; stop < whole.end - 400; stop += 61) {
      options.exception_scheme = scheme;
      if (options.exception_scheme == "stall-on-fault") options.block_switching = "none";
      const Outcome stopped = run({stop}, Technique::flush);
      ASSERT_EQ(stopped.memory, whole.memory) << stop << " " << scheme;
      if (stop < 900) {  // later their threads have ended, and only answers are awaited
        EXPECT_EQ(stopped.flushed(), 3u) << stop << " " << scheme;
      }
      EXPECT_EQ(stopped.saved(), 0u);
      EXPECT_EQ(stopped.executed(), whole.executed()) << stop << " " << scheme;
      EXPECT_EQ(stopped.stopped, 1u) << stop;
    }
}

TEST_F(FlushedGrid, ItsBlocksMayBeDroppedAgainAndAgain) {
  const Outcome whole = run({}, Technique::flush);
  const Outcome stopped = run({150, 400, 700, 900}, Technique::flush, 37);
  EXPECT_EQ(stopped.memory, whole.memory);
  EXPECT_GT(stopped.flushed(), 6u);
}

TEST_F(FlushedGridWithAtomics, ABlockThatCannotBeRepeatedIsSavedInstead) {
  const Outcome whole = run({}, Technique::flush);
  std::uint64_t flushed = 0, saved = 0;
  for (std::int64_t stop = 20; stop < 1500; stop += 61) {
    const Outcome stopped = run({stop}, Technique::flush);
    ASSERT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_EQ(stopped.flushed() + stopped.saved(), 3u) << stop;
    flushed += stopped.flushed();
    saved += stopped.saved();
  }
  EXPECT_GT(flushed, 5u);
  EXPECT_GT(saved, 5u);
}

TEST_F(FlushedGridWithAtomics, WithoutRoomForItsContextItRunsToItsEnd) {
  options.block_switching = "none";
  options.exception_scheme = "stall-on-fault";
  const Outcome whole = run({}, Technique::flush);
  const Outcome stopped = run({1200}, Technique::flush, 20'000);
  EXPECT_EQ(stopped.memory, whole.memory);
  EXPECT_EQ(stopped.saved(), 0u);
  EXPECT_LT(stopped.flushed(), 3u);
  EXPECT_GT(stopped.end, 21'200);
}

}  // namespace
}  // namespace lockstep::flushed_grid_test
