/// A run saved between two windows goes on in another machine object with other ranks and threads
/// as if nothing had happened.
#include <gtest/gtest.h>

#include "tests/properties/going_on.hpp"
#include "tests/properties/random/random_machine.hpp"
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing::interruption_test {
namespace {

void expect_no_difference(MachineBench& bench, std::uint64_t seed, unsigned windows) {
  const MachineResult whole = bench.run(Layout{});
  ASSERT_EQ(whole.problem, "");
  expect_to_go_on(bench, whole, Layout::interrupted(seed), windows, Layout::random(seed + 1));
}

TEST(Interruption, KeepsMemoryAndStatisticsOfRandomPrograms) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(100);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const unsigned windows = 1 + static_cast<unsigned>(seed * 37 % 400);
    const std::string what =
        "LOCKSTEP_SEED=" + std::to_string(seed) + ", after " + std::to_string(windows) + " windows";
    SCOPED_TRACE(what);
    const HangGuard guard(what);
    const RandomProgram program(seed);
    MachineBench bench(program.ptx(), program.workload(), random_machine(seed));
    expect_no_difference(bench, seed, windows);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Interruption, KeepsMemoryAndStatisticsOfAWorkloadThatReadsItsResults) {
  const auto bench = MachineBench::shipped("bfs", "{vertices: 512, edges: 4096, block: 128}", {});
  for (const unsigned windows : {1u, 10u, 100u, 300u, 700u, 1500u}) {
    const HangGuard guard("bfs left after " + std::to_string(windows) + " windows");
    SCOPED_TRACE(windows);
    expect_no_difference(*bench, windows, windows);
  }
}

}  // namespace
}  // namespace lockstep::testing::interruption_test
