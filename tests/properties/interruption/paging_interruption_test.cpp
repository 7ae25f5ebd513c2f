/// A run saved while pages are under way, or while a tenant runs its program again, goes on in
/// another layout as if nothing had happened.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/host/host.hpp"
#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing::paging_interruption_test {
namespace {

/// The `count`-th meeting of ranks at which something holds.
MachineBench::Moment when(unsigned count, MachineBench::Moment holds) {
  return [left = count, holds = std::move(holds)](const Host& host) mutable {
    return holds(host) && --left == 0;
  };
}

/// False if the moment never came.
bool goes_on(MachineBench& bench, std::uint64_t seed, const MachineBench::Moment& moment) {
  const MachineResult whole = bench.run(Layout{});
  EXPECT_EQ(whole.problem, "");
  const MachineResult resumed =
      bench.run_interrupted(Layout::interrupted(seed), moment, Layout::random(seed + 1));
  EXPECT_EQ(resumed.problem, "");
  EXPECT_EQ(bench.compare_statistics(whole, resumed), "");
  EXPECT_EQ(whole.faults, resumed.faults);
  return resumed.interrupted;
}

class PagingInterruption : public ::testing::TestWithParam<const char*> {};

TEST_P(PagingInterruption, ChangesNothing) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(12);
  unsigned met = 0;
  for (std::uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed) {
    SCOPED_TRACE("LOCKSTEP_SEED=" + std::to_string(seed) + " LOCKSTEP_CASES=1");
    const HangGuard guard("seed " + std::to_string(seed));
    const RandomProgram program(seed);
    std::vector<std::string> settings = random_paged_machine(seed, 1);
    settings.push_back("simulation.record_faults=true");
    MachineBench bench(program.ptx(), with_managed_memory(program.workload(), seed), settings);
    const auto moment = when(1 + seed % 3, [](const Host& host) {
      return host.only_part().managed().waiting_for().find(GetParam()) != std::string::npos;
    });
    met += goes_on(bench, seed, moment);
  }
  if (cases > 10) {
    EXPECT_GT(met, 0u) << "this never happens";
  }
}

INSTANTIATE_TEST_SUITE_P(States, PagingInterruption,
                         ::testing::Values("faults wait for the driver",
                                           "migrations wait for frames", "migrations are under way",
                                           "pages are leaving the GPU"),
                         [](const auto& state) {
                           std::string text = state.param;
                           std::replace(text.begin(), text.end(), ' ', '_');
                           return text;
                         });

TEST(RelaunchInterruption, ChangesNothing) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(12);
  unsigned met = 0;
  for (std::uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed) {
    SCOPED_TRACE("LOCKSTEP_SEED=" + std::to_string(seed) + " LOCKSTEP_CASES=1");
    const HangGuard guard("seed " + std::to_string(seed));
    const RandomProgram measured(seed * 1000), again(seed * 1000 + 1);
    std::vector<std::string> settings = random_paged_machine(seed, 2);
    settings.push_back("simulation.record_faults=true");
    settings.push_back("gpu.sm.count=4");
    SCOPED_TRACE(describe(seed, Layout{}, settings));
    MachineBench bench(
        {{measured.ptx(), with_managed_memory(measured.workload(), seed) + "  - delay: 2ms\n", ""},
         {again.ptx(), with_managed_memory(again.workload(), seed + 1), "relaunch: true"}},
        settings);
    const auto moment = when(1 + seed * 37 % 300, [](const Host& host) {
      return host.tenant(1).rounds() > 0 && !host.tenant(1).is_stopped();
    });
    met += goes_on(bench, seed, moment);
  }
  if (cases > 10) {
    EXPECT_GT(met, 6u) << "rounds are too short or too long";
  }
}

}  // namespace
}  // namespace lockstep::testing::paging_interruption_test
