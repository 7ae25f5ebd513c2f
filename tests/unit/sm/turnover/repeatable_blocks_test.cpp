/// Which blocks of a grid may be dropped, by the words that they have read and
/// overwritten. Source: 003, section 4.1; preemption.md, section 2.2 (the exact
/// check).
#include "tests/unit/sm/machine/kernel_text.hpp"
#include "tests/unit/sm/turnover/stopped_grid.hpp"

namespace lockstep::repeatable_blocks_test {
namespace {

/// The loop of stopped_grid without its atomic, and something in front of it,
/// behind the first load.
isa::Module kernel_that_begins_with(const std::string& begin) {
  std::string text = stopped_grid::rounds;
  const std::string atomic = "  atom.global.add.u32 %r10, [%rd0+16384], 1;\n";
  text.erase(text.find(atomic), atomic.size());
  return kernel_of(text.insert(text.find("again:"), begin), stopped_grid::declarations);
}

/// Both parameters point into one buffer, from which the kernel reads.
class OneBuffer : public GridThatIsStopped {
 public:
  OneBuffer(const std::string& begin, IdempotenceCheck check)
      : GridThatIsStopped(kernel_that_begins_with(begin)) {
    options.overwritten = 0b11;
    options.idempotence = check;
  }
};

struct Counts {
  std::uint64_t flushed = 0, saved = 0;
};

/// Stopped once in the loop, at several moments: memory is as if nothing had
/// happened.
Counts stopped_in_the_loop(const std::string& begin, IdempotenceCheck check) {
  OneBuffer grid(begin, check);
  const auto whole = grid.run({}, Technique::flush);
  Counts counts;
  for (std::int64_t stop = 500; stop < 900; stop += 61) {
    const auto stopped = grid.run({stop}, Technique::flush);
    EXPECT_EQ(stopped.memory, whole.memory) << stop;
    EXPECT_EQ(stopped.flushed() + stopped.saved(), 3u) << stop;
    counts.flushed += stopped.flushed();
    counts.saved += stopped.saved();
  }
  return counts;
}

TEST(RepeatableBlocks, AStoreToWordsThatWereNotReadCanBeRepeated) {
  const std::string store = "  st.global.u32 [%rd4], %r6;\n";
  EXPECT_EQ(stopped_in_the_loop(store, IdempotenceCheck::marks).flushed, 0u)
      << "for all that is known, it overwrites what the kernel reads";
  EXPECT_EQ(stopped_in_the_loop(store, IdempotenceCheck::words).saved, 0u);
}

TEST(RepeatableBlocks, AStoreToAWordThatWasReadCannot) {
  const std::string store = "  add.u32 %r20, %r6, 5;\n  st.global.u32 [%rd3], %r20;\n";
  EXPECT_EQ(stopped_in_the_loop(store, IdempotenceCheck::words).flushed, 0u);
}

TEST(RepeatableBlocks, NorOneToAPartOfIt) {
  const std::string store = "  st.global.u8 [%rd3+2], %r6;\n";
  EXPECT_EQ(stopped_in_the_loop(store, IdempotenceCheck::words).flushed, 0u);
}

TEST(RepeatableBlocks, AWordMayBeReadThatTheBlockHasWritten) {
  const std::string words =
      "  st.global.u32 [%rd4], %r6;\n  ld.global.u32 "
      "%r20, [%rd4];\n  st.global.u32 [%rd4], %r20;\n";
  EXPECT_EQ(stopped_in_the_loop(words, IdempotenceCheck::words).saved, 0u);
}

TEST(RepeatableBlocks, WhatOthersMayHaveSeenIsNotRepeated) {
  EXPECT_EQ(stopped_in_the_loop("  membar.gl;\n", IdempotenceCheck::words).flushed, 0u);
}

}  // namespace
}  // namespace lockstep::repeatable_blocks_test
