/// Skipping what is idle changes no statistic: a machine whose components are called at every clock
/// edge, and brought up to date there, counts the same as one in which they sleep until something
/// happens.  The waits are those of demand paging: far-faults, transfers, evictions.
/// Source: 001, section C.2; virtual-memory-and-exceptions.md, sections 7 and 19 (test 9).
#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing::idle_skipping_test {
namespace {

void expect_same_without_skipping(MachineBench& bench, std::size_t& faults) {
  Layout stepped;
  stepped.every_cycle = true;
  const MachineResult skipping = bench.run(Layout{}), stepping = bench.run(stepped);
  ASSERT_EQ(skipping.problem, "");
  ASSERT_EQ(stepping.problem, "");
  ASSERT_TRUE(skipping.finished && stepping.finished);
  ASSERT_EQ(bench.compare_common_epochs(skipping, stepping), "");
  ASSERT_EQ(skipping.faults, stepping.faults);
  faults += skipping.faults.size();
}

TEST(IdleSkipping, ChangesNothingThatRandomProgramsCount) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(15);
  std::size_t faults = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    SCOPED_TRACE("LOCKSTEP_SEED=" + std::to_string(seed) + " LOCKSTEP_CASES=1");
    const HangGuard guard("seed " + std::to_string(seed));
    std::vector<MachineBench::Application> tenants;
    for (unsigned t = 0; t < 1 + seed % 3; ++t) {
      const RandomProgram program(seed * 1000 + t);
      tenants.push_back({program.ptx(), with_managed_memory(program.workload(), seed + t)});
    }
    std::vector<std::string> settings =
        random_paged_machine(seed, static_cast<unsigned>(tenants.size()));
    settings.push_back("gpu.sm.count=4");
    settings.push_back("simulation.record_faults=true");
    MachineBench bench(tenants, settings);
    expect_same_without_skipping(bench, faults);
    if (::testing::Test::HasFatalFailure()) return;
  }
  if (cases > 20) {
    EXPECT_GT(faults, cases) << "they hardly waited";
  }
}

}  // namespace
}  // namespace lockstep::testing::idle_skipping_test
