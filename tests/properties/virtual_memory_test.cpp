/// Random programs whose memory comes and goes leave what they leave in the functional interpreter:
/// every translation design, prefetcher, eviction policy and cost model, with too little GPU
/// memory, a host that touches pages beside kernels, and any layout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/properties/going_on.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_preemption.hpp"
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing::virtual_memory_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(VirtualMemory, LosesNothingWhileItMovesPages) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(125);
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

void expect_to_go_on_elsewhere(MachineBench& bench, const MachineResult& whole,
                               const Layout& before, std::uint64_t seed) {
  expect_to_go_on(bench, whole, before, static_cast<unsigned>(10 + seed * 37 % 2000),
                  Layout::random(seed + 1));
}

TEST(VirtualMemory, OfSeveralTenantsStaysApart) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(40);
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
    if (seed % 4 == 0) {
      settings.push_back("policies.sharing=spatial");
    } else if (seed % 2 == 0) {
      share_every_sm(settings, seed);
    } else {
      preempt_at_random(settings, tenants, seed);
    }
    place_blocks(settings, seed);
    let_large_pages_meet(settings);
    const Layout layout = Layout::random(seed);
    const std::string what = describe(seed, layout, settings);
    const HangGuard guard(what);
    MachineBench bench(tenants, settings);
    const MachineResult result = bench.run(layout);
    ASSERT_EQ(result.problem, "") << what;
    ASSERT_TRUE(result.finished) << what;
    tables_read += result.page_tables_read;
    if (seed % 6 != 1) continue;
    expect_to_go_on_elsewhere(bench, result, Layout::interrupted(seed), seed);
    if (HasFatalFailure()) FAIL() << what;
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
    const Layout before = Layout::random(seed);
    const std::string what = describe(seed, before, settings);
    const HangGuard guard(what);
    MachineBench bench(program.ptx(), with_managed_memory(program.workload(), seed), settings);
    expect_to_go_on_elsewhere(bench, bench.run(Layout{}), before, seed);
    if (HasFatalFailure()) FAIL() << what;
  }
}

/// First touches that the GPU handles by itself, on SMs that stall, which only tests build: what a
/// handler costs its SM is no part of this.
///
/// store(out, in): out[t] = in[t] + 1, a page apart, so that each warp touches 32 pages.
constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 out, .param .u64 in) {
  .reg .b64 %rd<8>;
  .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4096;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r5, [%rd5];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%rd4], %r5;
  ret;
}
)";
constexpr const char* workload = R"(
module: kernels.ptx
buffers:
  in: {type: u32, count: 131072, memory: managed, init: {linear: {start: 5, step: 1}}}
  out: {type: u32, count: 131072, memory: managed}
program:
  - launch: {kernel: store, grid: [4], block: [32], arguments: [out, in]}
  - synchronize
  - read: out
)";

std::vector<std::string> local_settings(const std::string& capacity, const std::string& handling) {
  return {"gpu.memory.capacity=" + capacity, "policies.page_manager=base-pages",
          "policies.prefetcher=none", "policies.fault_handling=" + handling,
          "simulation.record_faults=true"};
}

/// Inputs come from the host, the output is mapped by the GPU; memory holds half of it all.
TEST(VirtualMemoryHandledByTheGpu, OversubscribedMemoryKeepsItsContentInAnyLayout) {
  MachineBench bench(
      std::string(ptx), std::string(workload),
      local_settings("600KiB", "{name: local, cost_model: tanasic, handler: 5us, pool: 3}"));
  const MachineResult one = bench.run(Layout{});
  ASSERT_EQ(one.problem, "");
  EXPECT_THAT(one.faults, Contains(HasSubstr(" local")));
  EXPECT_THAT(one.faults, Contains(Not(HasSubstr(" local"))));
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const MachineResult other = bench.run(Layout::random(seed));
    EXPECT_EQ(other.problem, "");
    EXPECT_EQ(bench.compare_statistics(one, other), "") << Layout::random(seed).text();
    EXPECT_EQ(other.faults, one.faults);
  }
  const MachineResult resumed = bench.run_interrupted(
      Layout::interrupted(1), MachineBench::after_windows(300), Layout::random(7));
  EXPECT_EQ(resumed.problem, "");
  EXPECT_TRUE(resumed.interrupted);
  EXPECT_EQ(bench.compare_statistics(one, resumed), "");
}

/// Every page of the output is the GPU's own when memory is plenty.
TEST(VirtualMemoryHandledByTheGpu, HostHasNoFaultOnUntouchedPagesWhileFramesLieReady) {
  MachineBench bench(std::string(ptx), std::string(workload),
                     local_settings("4MiB", "{name: local, handler: 20us, pool: 16}"));
  const MachineResult result = bench.run(Layout{});
  ASSERT_EQ(result.problem, "");
  EXPECT_THAT(result.faults, Contains(HasSubstr(" local")));
  for (const std::string& fault : result.faults)
    EXPECT_NE(fault.find(" migrated") != std::string::npos,
              fault.find(" local") != std::string::npos)
        << fault;
}

}  // namespace
}  // namespace lockstep::testing::virtual_memory_test
