/// Skipping what is idle changes no statistic: a machine whose components are called at every clock
/// edge, and brought up to date there, counts the same as one in which they sleep until something
/// happens.  The waits are those of demand paging: far-faults, transfers, evictions.
/// Source: 001, section C.2; virtual-memory-and-exceptions.md, sections 7 and 19 (test 9).
#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random_machine.hpp"
#include "tests/properties/random_paging.hpp"
#include "tests/properties/random_program.hpp"

namespace lockstep::testing {
namespace {

constexpr double most_seconds = 300;

void expect_same_without_skipping(MachineBench& bench) {
  Layout stepped;
  stepped.every_cycle = true;
  const MachineResult skipping = bench.run(Layout{}), stepping = bench.run(stepped);
  ASSERT_EQ(skipping.problem, "");
  ASSERT_EQ(stepping.problem, "");
  ASSERT_TRUE(skipping.finished && stepping.finished);
  ASSERT_EQ(bench.compare_common_epochs(skipping, stepping), "");
  ASSERT_EQ(skipping.faults, stepping.faults);
  ASSERT_FALSE(skipping.faults.empty());
}

TEST(IdleSkipping, ChangesNothingThatRandomProgramsCount) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(30);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    SCOPED_TRACE("LOCKSTEP_SEED=" + std::to_string(seed) + " LOCKSTEP_CASES=1");
    const HangGuard guard("seed " + std::to_string(seed), most_seconds);
    std::vector<MachineBench::Application> tenants;
    for (unsigned t = 0; t < 1 + seed % 3; ++t) {
      const RandomProgram program(seed * 1000 + t);
      tenants.push_back({program.ptx(), with_managed_memory(program.workload(), seed + t)});
    }
    std::vector<std::string> settings = random_machine(seed);
    const auto count = static_cast<unsigned>(tenants.size());
    for (const std::string& setting : random_virtual_memory(seed, count))
      settings.push_back(setting);
    for (const char* setting : {"gpu.sm.count=4", "simulation.record_faults=true",
                                "simulation.epoch=2us", "simulation.stop_at=2000ms"})
      settings.push_back(setting);
    MachineBench bench(tenants, settings);
    expect_same_without_skipping(bench);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace lockstep::testing
