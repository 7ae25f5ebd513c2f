/// GPUs of a tenant that take pages of managed memory from each other: bytes are those of the
/// interpreter, in any layout and through checkpoints, under every peer policy.
#include <gtest/gtest.h>

#include "models/host/host.hpp"
#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_storm.hpp"

namespace lockstep::testing::shared_memory_test {
namespace {

std::unique_ptr<MachineBench> bench_of(const RandomStorm& storm) {
  return std::make_unique<MachineBench>(
      std::vector<MachineBench::Application>{{storm.ptx, storm.workload, storm.tenant}},
      storm.settings);
}

bool waits_for_pages(const Host& host) {
  for (std::size_t part = 0; part < host.part_count(); ++part)
    if (!host.part(part).managed().waiting_for().empty()) return true;
  return false;
}

TEST(SharedMemory, StormsOfFaultsLeaveTheSameInAnyLayout) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(16);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomStorm storm(seed);
    SCOPED_TRACE(describe(seed, Layout{}, storm.settings));
    const HangGuard guard("seed " + std::to_string(seed));
    const auto bench = bench_of(storm);
    const MachineResult expected = bench->run(Layout{});
    ASSERT_EQ(expected.problem, "");
    std::vector<Layout> layouts = other_layouts();
    layouts.push_back(Layout::random(seed));
    for (const Layout& layout : layouts) {
      const MachineResult got = bench->run(layout);
      ASSERT_EQ(got.problem, "") << layout.text();
      EXPECT_EQ(bench->compare_statistics(expected, got), "") << layout.text();
      EXPECT_EQ(got.faults, expected.faults) << layout.text();
    }
  }
}

TEST(SharedMemory, AnInterruptionInAStormChangesNothing) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(16);
  unsigned met = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomStorm storm(seed);
    SCOPED_TRACE(describe(seed, Layout{}, storm.settings));
    const HangGuard guard("seed " + std::to_string(seed));
    const auto bench = bench_of(storm);
    const MachineResult expected = bench->run(Layout{});
    ASSERT_EQ(expected.problem, "");
    std::uint64_t meetings = 1 + seed % 40;
    const MachineResult got = bench->run_interrupted(
        Layout::interrupted(seed),
        [&](const Host& host) { return waits_for_pages(host) && --meetings == 0; },
        Layout::random(seed + 1));
    ASSERT_EQ(got.problem, "");
    EXPECT_EQ(bench->compare_statistics(expected, got), "");
    EXPECT_EQ(got.faults, expected.faults);
    met += got.interrupted;
  }
  EXPECT_GT(met, 0u) << "pages were never waited for";
}

}  // namespace
}  // namespace lockstep::testing::shared_memory_test
