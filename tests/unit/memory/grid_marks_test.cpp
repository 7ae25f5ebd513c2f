#include <gtest/gtest.h>

#include "tests/unit/memory/partition_bench.hpp"

namespace lockstep::grid_marks_test {
namespace {

using test::PartitionBench;

/// Loads of another line each, in these cycles.
void load_at(PartitionBench& bench, std::initializer_list<std::int64_t> cycles) {
  for (const std::int64_t cycle : cycles)
    bench.load(cycle, static_cast<std::uint64_t>(cycle) * line_bytes, 1,
               static_cast<std::uint32_t>(cycle));
}

std::uint64_t misses_of(PartitionBench& bench, std::uint64_t grid) {
  std::vector<GridContribution> taken;
  bench.partition().take_grid_counts(bench.time(bench.reached()), taken);
  std::uint64_t misses = 0;
  for (const GridContribution& one : taken)
    if (one.grid == grid) misses += one.counts.l2_misses;
  return misses;
}

/// The second and third of four loads come while grid 3 runs.
void run_four_loads(PartitionBench& bench, std::int64_t window) {
  load_at(bench, {100});
  bench.mark(200, MessageKind::grid_begins, 3);
  load_at(bench, {300, 400});
  bench.mark(600, MessageKind::grid_ends, 3);
  load_at(bench, {700});
  bench.run_to(1000, window);
}

TEST(GridMarks, AGridHasWhatIsCountedBetweenItsMarks) {
  PartitionBench bench;
  run_four_loads(bench, 1 << 30);
  EXPECT_EQ(bench.statistics().tenant[0].sector_misses.value(), 4u);
  EXPECT_EQ(misses_of(bench, 3), 2u);
}

TEST(GridMarks, WindowsDoNotMatter) {
  for (const std::int64_t window : {1, 7, 250}) {
    PartitionBench bench;
    run_four_loads(bench, window);
    EXPECT_EQ(misses_of(bench, 3), 2u) << window;
  }
}

TEST(GridMarks, ARestoredPartitionGoesOnCountingForAGrid) {
  PartitionBench bench, other;
  bench.mark(100, MessageKind::grid_begins, 3);
  load_at(bench, {200});
  bench.run_to(400);
  other.restore(bench.save());
  load_at(other, {500});
  other.mark(700, MessageKind::grid_ends, 3);
  other.run_to(1000);
  EXPECT_EQ(misses_of(other, 3), 2u);
}

TEST(GridMarks, AMarkChangesNoAnswer) {
  PartitionBench with, without;
  load_at(with, {100, 101, 102, 103});
  load_at(without, {100, 101, 102, 103});
  for (const std::int64_t cycle : {101, 110, 150}) with.mark(cycle, MessageKind::grid_begins, 3);
  with.run();
  without.run();
  EXPECT_EQ(with.answers(), without.answers());
}

}  // namespace
}  // namespace lockstep::grid_marks_test
