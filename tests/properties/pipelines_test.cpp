/// Random pipelines of asynchronous or bulk copies and barriers of mbarrier leave what they leave
/// in the functional interpreter: on any machine, in any layout, through checkpoints, with pages
/// that fault, under every exception scheme, and while tenants take SMs from each other.
#include <gtest/gtest.h>

#include "tests/properties/going_on.hpp"
#include "tests/properties/random/random_machine.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_pipeline.hpp"
#include "tests/properties/random/random_preemption.hpp"

namespace lockstep::testing::pipelines_test {
namespace {

using Copies = RandomPipeline::Copies;

class Pipelines : public ::testing::TestWithParam<Copies> {};
INSTANTIATE_TEST_SUITE_P(Of, Pipelines, ::testing::Values(Copies::by_lanes, Copies::in_bulk),
                         [](const auto& of) {
                           return of.param == Copies::in_bulk ? "BulkCopies" : "CopiesByLanes";
                         });

/// The settings, and what the pipeline needs.
std::vector<std::string> with(RandomPipeline& pipeline, std::vector<std::string> settings) {
  const std::vector<std::string> needed = pipeline.settings();
  settings.insert(settings.end(), needed.begin(), needed.end());
  return settings;
}

TEST_P(Pipelines, LeaveTheSameMemoryOnAnyMachineAndCountTheSameInAnyLayout) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(40);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    RandomPipeline pipeline(seed, GetParam());
    const std::vector<std::string> settings = with(pipeline, random_machine(seed));
    const Layout layout = Layout::random(seed);
    const std::string what = describe(seed, layout, settings);
    const HangGuard guard(what);
    MachineBench bench(pipeline.ptx(), pipeline.workload(), settings);
    const MachineResult result = bench.run(layout);
    ASSERT_EQ(result.problem, "") << what;
    if (seed % 4 != 0) continue;
    for (const Layout& other : other_layouts()) {
      const MachineResult there = bench.run(other);
      ASSERT_EQ(there.problem, "") << what << other.text();
      ASSERT_EQ(bench.compare_statistics(result, there), "") << what << other.text();
    }
  }
}

TEST_P(Pipelines, GoOnWhereTheyWereInterrupted) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(25);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    RandomPipeline pipeline(seed, GetParam());
    const std::vector<std::string> settings = with(pipeline, random_machine(seed));
    const Layout before = Layout::interrupted(seed);
    const std::string what = describe(seed, before, settings);
    const HangGuard guard(what);
    MachineBench bench(pipeline.ptx(), pipeline.workload(), settings);
    const MachineResult whole = bench.run(Layout{});
    ASSERT_EQ(whole.problem, "") << what;
    expect_to_go_on(bench, whole, before, 1 + static_cast<unsigned>(seed * 37 % 300),
                    Layout::random(seed + 1));
    if (HasFatalFailure()) FAIL() << what;
  }
}

TEST_P(Pipelines, LoseNothingWhilePagesMove) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(40);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    RandomPipeline pipeline(seed, GetParam());
    const std::vector<std::string> settings = with(pipeline, random_paged_machine(seed, 1));
    const Layout layout = Layout::random(seed);
    const std::string what = describe(seed, layout, settings);
    const HangGuard guard(what);
    MachineBench bench(pipeline.ptx(), with_managed_memory(pipeline.workload(), seed), settings);
    const MachineResult result = bench.run(layout);
    ASSERT_EQ(result.problem, "") << what;
    ASSERT_TRUE(result.finished) << what;
    if (seed % 4 != 0) continue;
    expect_to_go_on(bench, result, Layout::interrupted(seed),
                    static_cast<unsigned>(10 + seed * 37 % 1500), Layout::random(seed + 1));
    if (HasFatalFailure()) FAIL() << what;
  }
}

void tenants_lose_nothing(Copies copies, std::uint64_t seed, const std::vector<std::string>& more,
                          bool goes_on) {
  std::vector<MachineBench::Application> tenants;
  std::vector<std::string> engine;
  for (unsigned t = 0; t < 2 + seed % 2; ++t) {
    RandomPipeline pipeline(seed * 1000 + t, copies);
    engine = pipeline.settings();
    tenants.push_back({pipeline.ptx(), with_managed_memory(pipeline.workload(), seed + t)});
  }
  std::vector<std::string> settings =
      random_paged_machine(seed, static_cast<unsigned>(tenants.size()));
  settings.push_back("gpu.sm.count=4");
  settings.insert(settings.end(), engine.begin(), engine.end());
  preempt_at_random(settings, tenants, seed);
  place_blocks(settings, seed);
  let_large_pages_meet(settings);
  settings.insert(settings.end(), more.begin(), more.end());
  const Layout layout = Layout::random(seed);
  const std::string what = describe(seed, layout, settings);
  const HangGuard guard(what);
  MachineBench bench(tenants, settings);
  const MachineResult result = bench.run(layout);
  ASSERT_EQ(result.problem, "") << what;
  ASSERT_TRUE(result.finished) << what;
  if (!goes_on) return;
  expect_to_go_on(bench, result, Layout::interrupted(seed),
                  static_cast<unsigned>(10 + seed * 37 % 1500), Layout::random(seed + 1));
  if (::testing::Test::HasFatalFailure()) FAIL() << what;
}

TEST_P(Pipelines, OfTenantsThatTakeSmsFromEachOtherLoseNothing) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(30);
  for (std::uint64_t seed = first; seed < first + cases && !HasFatalFailure(); ++seed)
    tenants_lose_nothing(GetParam(), seed, {}, seed % 4 == 1);
}

/// Slots whose warps have left, squashed lines and turns among their paths: a checkpoint keeps
/// neither, and nothing may count them.
TEST(PipelinesOfTenants, EmptySlotsCountForNobody) {
  for (const char* setting : {"policies.prefetcher=none", "gpu.sm.count=2"})
    tenants_lose_nothing(Copies::by_lanes, 13, {setting}, true);
}

TEST_P(Pipelines, CountTheSameWithoutSkippingWhatIsIdle) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(8);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    RandomPipeline pipeline(seed, GetParam());
    const std::vector<std::string> settings =
        with(pipeline, seed % 2 == 0 ? random_machine(seed) : random_paged_machine(seed, 1));
    const std::string what = describe(seed, Layout{}, settings);
    const HangGuard guard(what);
    const std::string workload =
        seed % 2 == 0 ? pipeline.workload() : with_managed_memory(pipeline.workload(), seed);
    MachineBench bench(pipeline.ptx(), workload, settings);
    const MachineResult skipping = bench.run(Layout{}), stepping = bench.run({.every_cycle = true});
    ASSERT_EQ(skipping.problem, "") << what;
    ASSERT_EQ(stepping.problem, "") << what;
    ASSERT_EQ(bench.compare_common_epochs(skipping, stepping), "") << what;
  }
}

TEST(AsynchronousWorkloads, GoOnWhereTheyWereInterrupted) {
  for (const auto& [name, parameters] :
       {std::pair("gemm_mma", "{m: 128, n: 128, k: 64}"), std::pair("sgemm_async", "{n: 48}"),
        std::pair("scale_bulk", "{n: 9000}"), std::pair("gemm_tma", "{m: 70, n: 68, k: 136}")}) {
    const auto bench = MachineBench::shipped(
        name, parameters, {"gpu.compute_capability=9.0", "gpu.sm.bulk.lines_in_flight=16"});
    const MachineResult whole = bench->run(Layout{});
    ASSERT_EQ(whole.problem, "") << name;
    for (const unsigned windows : {3u, 40u, 90u, 150u, 260u, 400u}) {
      const HangGuard guard(std::string(name) + " left after " + std::to_string(windows));
      expect_to_go_on(*bench, whole, Layout::interrupted(windows), windows,
                      Layout::random(windows + 1));
      if (HasFatalFailure()) FAIL() << name;
    }
  }
}

}  // namespace
}  // namespace lockstep::testing::pipelines_test
