/// Random programs on several GPUs that load, store and modify each other's memory: bytes are those
/// of the interpreter, in any layout and through checkpoints.
#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_peers.hpp"

namespace lockstep::testing::peers_test {
namespace {

std::unique_ptr<MachineBench> bench_of(const RandomPeers& peers) {
  return std::make_unique<MachineBench>(
      std::vector<MachineBench::Application>{{peers.ptx, peers.workload, peers.tenant}},
      peers.settings);
}

TEST(Peers, AnyLayoutCountsTheSame) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(16);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomPeers peers(seed);
    SCOPED_TRACE(describe(seed, Layout{}, peers.settings));
    const HangGuard guard("seed " + std::to_string(seed));
    const auto bench = bench_of(peers);
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

TEST(Peers, AnInterruptionChangesNothing) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(16);
  unsigned met = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomPeers peers(seed);
    SCOPED_TRACE(describe(seed, Layout{}, peers.settings));
    const HangGuard guard("seed " + std::to_string(seed));
    const auto bench = bench_of(peers);
    const MachineResult expected = bench->run(Layout{});
    ASSERT_EQ(expected.problem, "");
    const MachineResult got =
        bench->run_interrupted(Layout::interrupted(seed),
                               MachineBench::after_windows(50 + static_cast<unsigned>(seed) * 37),
                               Layout::random(seed + 1));
    ASSERT_EQ(got.problem, "");
    EXPECT_EQ(bench->compare_statistics(expected, got), "");
    EXPECT_EQ(got.faults, expected.faults);
    met += got.interrupted;
  }
  EXPECT_GT(met, 0u) << "all runs were over before";
}

}  // namespace
}  // namespace lockstep::testing::peers_test
