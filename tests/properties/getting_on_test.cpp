/// However often blocks are stopped, saved, flushed, moved and brought back, and however little
/// memory there is meanwhile: every run ends, with the memory that the functional interpreter
/// leaves.
#include <gtest/gtest.h>

#include <random>

#include "core/error/error.hpp"
#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_preemption.hpp"
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing::getting_on_test {
namespace {

/// Simulated; the longest of thousands of such runs takes a tenth of that.
constexpr const char* long_enough = "simulation.stop_at=1000ms";

/// Signals and slices of all lengths, down to those in which nothing but contexts can move.
void hurry(std::vector<std::string>& settings, std::mt19937_64& random) {
  for (std::string& setting : settings) {
    if (setting.starts_with("policies.preemption.signal=") && random() % 2 == 0)
      setting = "policies.preemption.signal=" + std::to_string(1 + random() % 400);
    if (setting.starts_with("policies.sharing.slice=") && random() % 2 == 0)
      setting = "policies.sharing.slice=1us";
  }
}

/// A grid whose blocks wait for each other, of as many as there are places for now and then.
MachineBench::Application cooperative(std::uint64_t seed, std::mt19937_64& random) {
  return {cooperative_kernel(), cooperative_workload(1 + random() % 8, seed), ""};
}

void share_at_random(std::vector<std::string>& settings,
                     std::vector<MachineBench::Application>& tenants, std::uint64_t seed) {
  if (seed % 8 == 0) return settings.push_back("policies.sharing=spatial");
  if (seed % 8 < 3) return share_every_sm(settings, seed);
  preempt_at_random(settings, tenants, seed);
}

/// False: the machine refuses such tenants, as it says.
bool runs_to_its_end(std::uint64_t seed) {
  std::mt19937_64 random(seed + 0x90);
  const auto count = static_cast<unsigned>(1 + random() % 3);
  std::vector<MachineBench::Application> tenants;
  for (unsigned t = 0; t < count; ++t) {
    if (random() % 3 == 0) {
      tenants.push_back(cooperative(seed + t, random));
      continue;
    }
    const RandomProgram program(seed * 1000 + t);
    tenants.push_back({program.ptx(), with_managed_memory(program.workload(), seed + t), ""});
  }
  std::vector<std::string> settings = random_paged_machine(seed, count);
  settings.push_back("gpu.sm.count=4");
  settings.push_back(long_enough);
  share_at_random(settings, tenants, seed);
  for (MachineBench::Application& tenant : tenants)
    tenant.options += std::string(tenant.options.empty() ? "" : ", ") +
                      "arrival: " + std::to_string(random() % 60) + "us";
  hurry(settings, random);
  place_blocks(settings, seed);
  let_large_pages_meet(settings);
  const std::string what = describe(seed, Layout{}, settings);
  const HangGuard guard(what);
  try {
    MachineBench bench(tenants, settings);
    const MachineResult result = bench.run(Layout{});
    EXPECT_EQ(result.problem, "") << what;
    EXPECT_TRUE(result.finished) << what;
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("grid-wide barrier"), std::string::npos)
        << error.what() << what;
    return false;
  }
  return true;
}

TEST(GettingOn, EveryRunEndsHoweverItIsInterrupted) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(60);
  std::uint64_t runs = 0;
  for (std::uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed)
    runs += runs_to_its_end(seed) ? 1 : 0;
  EXPECT_GT(2 * runs, cases) << "most were refused";
}

/// Known: pages of 2 MiB that come one by one to several tenants, of which each takes another one's
/// before the block that waits for it has returned (docs/exceptions.md).
TEST(GettingOn, WhoDoesNotIsFound) {
  const std::uint64_t seed = 86;
  std::vector<MachineBench::Application> tenants;
  const auto count = static_cast<unsigned>(2 + seed % 3);
  for (unsigned t = 0; t < count; ++t) {
    const RandomProgram program(seed * 1000 + t);
    tenants.push_back({program.ptx(), with_managed_memory(program.workload(), seed + t)});
  }
  std::vector<std::string> settings = random_paged_machine(seed, count);
  settings.push_back("gpu.sm.count=4");
  share_every_sm(settings, seed);
  place_blocks(settings, seed);
  settings.push_back(long_enough);
  settings.push_back("simulation.progress_limit=10ms");
  Layout layout;
  layout.watched = true;
  const std::string what = describe(seed, layout, settings);
  const HangGuard guard(what);
  MachineBench bench(tenants, settings);
  const std::string problem = bench.run(layout).problem;
  EXPECT_NE(problem.find("waits for ever"), std::string::npos) << problem << what;
}

}  // namespace
}  // namespace lockstep::testing::getting_on_test
