/// Random programs leave the same memory on the timed machine, whatever its size, latencies and
/// queues and whoever runs which part of it, as in the functional interpreter.
#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_machine.hpp"
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing::random_programs_test {
namespace {

TEST(RandomPrograms, LeaveTheSameMemoryOnAnyMachine) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(200);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomProgram program(seed);
    const std::vector<std::string> settings = random_machine(seed);
    const Layout layout = Layout::random(seed);
    const std::string what = describe(seed, layout, settings);
    const HangGuard guard(what);
    MachineBench bench(program.ptx(), program.workload(), settings);
    const MachineResult result = bench.run(layout);
    ASSERT_EQ(result.problem, "") << what;
    if (seed % 8 != 0) continue;
    // Not only its memory: every counter of every component in every epoch.
    ASSERT_EQ(bench.compare_statistics(bench.run(Layout{}), result), "") << what;
  }
}

TEST(RandomPrograms, OfSeveralTenantsDoNotDisturbEachOther) {
  static constexpr const char* sharing[] = {"policies.sharing=exclusive",
                                            "policies.sharing=spatial"};
  const std::uint64_t first = first_seed(1), cases = cases_to_run(40);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    std::vector<MachineBench::Application> tenants;
    for (std::uint64_t t = 0; t < 2 + seed % 2; ++t) {
      const RandomProgram program(seed * 1000 + t);
      tenants.push_back({program.ptx(), program.workload()});
    }
    std::vector<std::string> settings = random_machine(seed);
    settings.push_back("gpu.sm.count=4");
    settings.push_back(sharing[seed % 2]);
    const Layout layout = Layout::random(seed);
    const std::string what = describe(seed, layout, settings);
    const HangGuard guard(what);
    MachineBench bench(tenants, settings);
    ASSERT_EQ(bench.run(layout).problem, "") << what;
  }
}

}  // namespace
}  // namespace lockstep::testing::random_programs_test
