/// A kernel that is made again with fewer registers for its blocks computes the same in any layout,
/// interrupted or not, and what it spills is stored and loaded.
#include <gtest/gtest.h>

#include <string>

#include "tests/properties/machine_bench.hpp"

namespace lockstep::testing::registers_test {
namespace {

constexpr unsigned values =
    80;  // live at once: more than 64 registers, which 1024 threads may have

std::string kernel() {
  std::string text =
      ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 data)\n{\n"
      ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b32 %v<" +
      std::to_string(values) +
      ">;\nld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\n";
  for (unsigned v = 0; v < values; ++v)
    text += "ld.global.u32 %v" + std::to_string(v) + ", [%rd3+" + std::to_string(4 * v) + "];\n";
  text += "bar.sync 0;\n";
  for (unsigned v = values; v-- > 0;)
    text += "mad.lo.u32 %r1, %r1, 5, %v" + std::to_string(v) + ";\n";
  return text + "bar.sync 0;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";
}

const std::string workload = R"(
module: kernels.ptx
buffers:
  data: {type: u32, count: 2048, memory: device, init: {uniform: {low: 0, high: 1000, seed: 1}}}
program:
  - copy: {buffer: data, to: device}
  - launch: {kernel: k, grid: [1], block: [1024], arguments: [data]}
  - copy: {buffer: data, to: host}
)";

TEST(FewerRegisters, ComputeTheSameInAnyLayout) {
  MachineBench bench(kernel(), workload, {"simulation.stop_at=2000ms"});
  const MachineResult one = bench.run({});
  EXPECT_EQ(one.problem, "");
  for (const Layout& layout : other_layouts()) {
    const MachineResult other = bench.run(layout);
    EXPECT_EQ(other.problem, "") << layout.text();
    EXPECT_EQ(bench.compare_statistics(one, other), "") << layout.text();
  }
}

TEST(FewerRegisters, OutliveACheckpoint) {
  MachineBench bench(kernel(), workload, {"simulation.stop_at=2000ms"});
  const MachineResult whole = bench.run({});
  for (const unsigned windows : {100u, 400u, 1000u}) {
    const MachineResult other =
        bench.run_interrupted({}, MachineBench::after_windows(windows), {.threads = 2});
    EXPECT_EQ(other.problem, "") << windows;
    EXPECT_EQ(bench.compare_common_epochs(whole, other), "") << windows;
  }
}

}  // namespace
}  // namespace lockstep::testing::registers_test
