/// Mosaic on whole machines: kernels that load and store all over memory, of device and managed
/// buffers, while pages are coalesced, evicted and splintered, some of them among foreign pages.
/// Bytes are those of the functional interpreter, page tables those of the model (MachineBench),
/// and every count the same in any layout and across a checkpoint.
#include <gtest/gtest.h>

#include <random>

#include "tests/properties/going_on.hpp"

namespace lockstep::testing::mosaic_test {
namespace {

/// touch(a, b, pages, rounds, salt): thread t, of its own words of pages that it visits in an order
/// of its own: a[p][t] = 3 a[p][t] + b[p][t] + round.
constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry touch(.param .u64 a, .param .u64 b, .param .u32 pages, .param .u32 rounds,
                      .param .u32 salt) {
  .reg .pred %p<2>;
  .reg .b64 %rd<9>;
  .reg .b32 %r<16>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u32 %r1, [pages];
  ld.param.u32 %r2, [rounds];
  ld.param.u32 %r3, [salt];
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ntid.x;
  mov.u32 %r6, %tid.x;
  mad.lo.u32 %r7, %r4, %r5, %r6;
  shr.u32 %r8, %r7, 5;
  add.u32 %r8, %r8, %r3;
  mul.lo.u32 %r8, %r8, 7919;
  mov.u32 %r9, 0;
LOOP:
  rem.u32 %r10, %r8, %r1;
  mad.lo.u32 %r11, %r10, 1024, %r7;
  mul.wide.u32 %rd3, %r11, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r12, [%rd4];
  ld.global.u32 %r13, [%rd5];
  mad.lo.u32 %r12, %r12, 3, %r13;
  add.u32 %r12, %r12, %r9;
  st.global.u32 [%rd4], %r12;
  add.u32 %r8, %r8, 104729;
  add.u32 %r9, %r9, 1;
  setp.lt.u32 %p1, %r9, %r2;
  @%p1 bra LOOP;
  ret;
}
)";

class Scene {
 public:
  explicit Scene(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 5) {}

  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + random_() % (high - low + 1);
  }
  std::string of(std::initializer_list<const char*> words) {
    return words.begin()[random_() % words.size()];
  }

  std::string workload() {
    std::uint64_t pages = between(0, 2) == 0 ? 512 : between(600, 1100);
    const std::string count = std::to_string(pages * 1024);
    const bool managed = between(0, 2) != 0;
    const std::string a = managed ? "managed" : "device", b = of({"managed", "managed", "device"});
    std::string text = "module: kernels.ptx\nbuffers:\n";
    text +=
        "  a: {type: u32, count: " + count + ", memory: " + a + ", init: {linear: {step: 3}}}\n";
    text +=
        "  b: {type: u32, count: " + count + ", memory: " + b + ", init: {linear: {start: 5}}}\n";
    text += "program:\n";
    if (!managed) text += "  - copy: {buffer: a, to: device}\n";
    if (b == "device") text += "  - copy: {buffer: b, to: device}\n";
    for (std::uint64_t launch = between(2, 4); launch > 0; --launch) {
      if (managed && between(0, 1) == 0)
        text += "  - prefetch: {buffer: a, to: gpu, offset: " +
                std::to_string(between(0, pages / 2) * 1024) + "}\n";
      text += "  - launch: {kernel: touch, grid: [4], block: [64], arguments: [a, b, " +
              std::to_string(pages) + ", " + std::to_string(between(5, 40)) + ", " +
              std::to_string(between(0, 1000)) + "]}\n";
      if (managed && between(0, 2) == 0)
        text += "  - prefetch: {buffer: a, to: host, offset: " +
                std::to_string(between(0, pages - 1) * 1024) + "}\n";
      if (managed && between(0, 3) == 0) text += "  - synchronize\n  - read: a\n";
      // The kernels that follow leave out what was freed, or have it come again.
      if (between(0, 2) == 0) continue;
      const std::uint64_t left = between(pages / 4, pages - 1);
      text += "  - free: {buffer: a, offset: " + std::to_string(left * 1024) + "}\n";
      if (managed) continue;
      text +=
          "  - free: {buffer: a, offset: " + std::to_string(left / 2 * 1024) + ", count: 100}\n";
      pages = left;
    }
    text += "  - synchronize\n";
    if (!managed)
      text += "  - copy: {buffer: a, to: host, count: " + std::to_string(pages * 1024) + "}\n";
    return text;
  }

  std::vector<std::string> settings() {
    std::vector<std::string> list{"policies.page_manager.name=mosaic", "policies.sharing=spatial",
                                  "simulation.epoch=50us", "simulation.stop_at=2000ms",
                                  "gpu.noc.mapping=frame"};
    const auto any = [&](const std::string& key, std::initializer_list<const char*> words) {
      list.push_back(key + "=" + of(words));
    };
    any("policies.page_manager.compaction", {"none", "channel", "channel", "bulk", "ideal"});
    any("policies.page_manager.threshold", {"256", "256", "512", "0"});
    any("policies.page_manager.stall", {"true", "false"});
    any("gpu.memory.partitions", {"1", "2", "4"});
    // Two tenants with device buffers fit; what is managed does not.
    const std::string capacity = of({"14MiB", "24MiB", "24MiB", "64MiB"});
    list.push_back("gpu.memory.capacity=" + capacity);
    if (capacity == "64MiB") {
      any("gpu.memory.fragmentation.index", {"0", "0.8", "1"});
      any("gpu.memory.fragmentation.occupancy", {"0.05", "0.3", "0.6"});
    }
    any("policies.translation", {"shared-tlb", "page-walk-cache", "ideal"});
    any("policies.eviction", {"lru", "random", "tree", "{name: lru, granularity: large}"});
    any("policies.prefetcher", {"none", "sequential-local", "tree", "zheng-local512k"});
    list.push_back("policies.fault_handling.name=host");
    any("policies.fault_handling.cost_model", {"uvmsmart", "linear"});
    any("policies.fault_handling.handling", {"1us", "5us"});
    any("gpu.vm.shootdown", {"entry", "entry", "whole", "none"});
    any("gpu.vm.walk_latency", {"0", "0", "100"});
    any("gpu.vm.l1_tlb.entries", {"2", "16"});
    return list;
  }

 private:
  std::mt19937_64 random_;
};

TEST(Mosaic, LosesNothingWhileItCoalescesAndSplinters) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(8);
  unsigned tables_read = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Scene scene(seed);
    std::vector<MachineBench::Application> tenants;
    for (std::uint64_t tenant = 1 + seed % 2; tenant > 0; --tenant)
      tenants.push_back({ptx, scene.workload()});
    const std::vector<std::string> settings = scene.settings();
    const Layout layout = Layout::random(seed);
    const std::string what = describe(seed, layout, settings);
    const HangGuard guard(what);
    MachineBench bench(tenants, settings);
    const MachineResult result = bench.run(layout);
    ASSERT_EQ(result.problem, "") << what;
    ASSERT_TRUE(result.finished) << what;
    tables_read += result.page_tables_read;
    if (seed % 4 == 0) {
      ASSERT_EQ(bench.compare_statistics(bench.run(Layout{}), result), "") << what;
    }
    if (seed % 4 == 1) {
      expect_to_go_on(bench, result, Layout::interrupted(seed), scene.between(100, 4000),
                      Layout::random(seed + 1));
      if (HasFatalFailure()) FAIL() << what;
    }
  }
  if (cases > 5) {
    EXPECT_GT(tables_read, cases) << "page tables were hardly looked at";
  }
}

TEST(Mosaic, CountsTheSameInAnyLayoutAndAcrossACheckpoint) {
  Scene scene(3);
  MachineBench bench(
      {{ptx, scene.workload()}, {ptx, scene.workload()}},
      {"policies.page_manager=mosaic", "policies.sharing=spatial", "gpu.noc.mapping=frame",
       "gpu.memory.capacity=14MiB", "policies.eviction=lru", "simulation.epoch=200us"});
  const MachineResult expected = bench.run({});
  ASSERT_EQ(expected.problem, "");
  for (const Layout& layout : other_layouts()) {
    const MachineResult got = bench.run(layout);
    EXPECT_EQ(got.problem, "");
    EXPECT_EQ(bench.compare_statistics(expected, got), "") << layout.text();
  }
  for (const unsigned windows : {1000u, 20000u})
    expect_to_go_on(bench, expected, Layout::interrupted(windows), windows,
                    Layout::random(windows));
}

}  // namespace
}  // namespace lockstep::testing::mosaic_test
