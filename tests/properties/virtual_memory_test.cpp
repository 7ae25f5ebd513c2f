/// Random programs whose memory comes and goes leave what they leave in the functional interpreter:
/// every translation design, prefetcher, eviction policy and cost model, with too little GPU
/// memory, a host that touches pages beside kernels, and any layout.
#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random_paging.hpp"
#include "tests/properties/random_program.hpp"

namespace lockstep::testing::virtual_memory_test {
namespace {

TEST(VirtualMemory, LosesNothingWhileItMovesPages) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(500);
  unsigned tables_read = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomProgram program(seed);
    const std::vector<std::string> settings = random_paged_machine(seed, 1);
    const Layout layout = Layout::random(seed);
    const std::string what = describe(seed, layout, settings);
    const HangGuard guard(what);
    MachineBench bench(program.ptx(), with_managed_memory(program.workload(), seed), settings);
    const MachineResult result = bench.run(layout);
    ASSERT_EQ(result.problem, "") << what;
    ASSERT_TRUE(result.finished) << what;
    tables_read += result.page_tables_read;
    if (seed % 4 != 0) continue;
    ASSERT_EQ(bench.compare_statistics(bench.run(Layout{}), result), "") << what;
  }
  if (cases > 20) {
    EXPECT_GT(tables_read, cases) << "page tables were hardly looked at";
  }
}

TEST(VirtualMemory, OfSeveralTenantsStaysApart) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(150);
  unsigned tables_read = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    std::vector<MachineBench::Application> tenants;
    const auto count = static_cast<unsigned>(2 + seed % 3);
    for (unsigned t = 0; t < count; ++t) {
      const RandomProgram program(seed * 1000 + t);
      tenants.push_back({program.ptx(), with_managed_memory(program.workload(), seed + t)});
    }
    std::vector<std::string> settings = random_paged_machine(seed, count);
    settings.push_back("gpu.sm.count=4");
    settings.push_back(seed % 2 ? "policies.sharing=exclusive" : "policies.sharing=spatial");
    const Layout layout = Layout::random(seed);
    const std::string what = describe(seed, layout, settings);
    const HangGuard guard(what);
    MachineBench bench(tenants, settings);
    const MachineResult result = bench.run(layout);
    ASSERT_EQ(result.problem, "") << what;
    ASSERT_TRUE(result.finished) << what;
    tables_read += result.page_tables_read;
  }
  if (cases > 20) {
    EXPECT_GT(tables_read, cases) << "page tables were hardly looked at";
  }
}

TEST(VirtualMemory, GoesOnWhereItWasInterrupted) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(40);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomProgram program(seed);
    const std::vector<std::string> settings = random_paged_machine(seed, 1);
    const Layout before = Layout::random(seed), after = Layout::random(seed + 1);
    const std::string what = describe(seed, before, settings);
    const HangGuard guard(what);
    MachineBench bench(program.ptx(), with_managed_memory(program.workload(), seed), settings);
    const MachineResult whole = bench.run(Layout{});
    const auto windows = static_cast<unsigned>(10 + seed * 37 % 2000);
    const MachineResult result =
        bench.run_interrupted(before, MachineBench::after_windows(windows), after);
    ASSERT_EQ(result.problem, "") << what << " after " << windows << " windows";
    ASSERT_EQ(bench.compare_statistics(whole, result), "") << what;
  }
}

}  // namespace
}  // namespace lockstep::testing::virtual_memory_test
