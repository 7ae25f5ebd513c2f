/// What operations cost that ptxas expands, on the V100: latencies against measured ones.
#include "models/sm/tables/expansion_timing.hpp"

#include <gtest/gtest.h>

#include "core/parameters/document.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::expansion_timing_test {
namespace {

/// The execution units of configs/gpus/v100.yaml.
IdealMachine::Options v100() {
  const Node file = load_document(LOCKSTEP_SOURCE_DIR "/configs/gpus/v100.yaml");
  IdealMachine::Options options;
  options.parameters = read_parameters<SmParameters>(file.at("sm"));
  options.parameters.count = 1;
  return options;
}

/// Cycles that `warps` warps need for `body`, as the first thread's clock says.
std::int64_t cycles_of(const std::string& body, const IdealMachine::Options& options,
                       std::uint32_t warps) {
  IdealMachine machine(kernel_of("mov.f64 %fd1, 0d4008000000000000;\nmov.f64 %fd2, %fd1;\n"
                                 "mov.f32 %f1, 0f40400000;\nmov.f32 %f2, %f1;\n"
                                 "add.u32 %r1, %r0, 77;\n"
                                 "bar.sync 0;\nmov.u32 %r90, %clock;\n" +
                                     body +
                                     "bar.sync 0;\nmov.u32 %r91, %clock;\n"
                                     "sub.u32 %r92, %r91, %r90;\n"
                                     "st.global.u32 [%rd0], %r92;\n",
                                 ""),
                       options);
  machine.launch("k", {1, 1, 1}, {32 * warps, 1, 1},
                 {machine.address(0), machine.address(4096), 5});
  machine.run();
  return machine.get<std::uint32_t>(0);
}

double cycles_per(const std::string& step, std::uint32_t warps = 1) {
  const IdealMachine::Options options = v100();
  return static_cast<double>(cycles_of(times(48, step), options, warps) -
                             cycles_of(times(16, step), options, warps)) /
         32;
}

/// PPT (Arafa et al. 2019): latencies of a V100.
TEST(Expansions, TakeAsLongAsMeasured) {
  EXPECT_NEAR(cycles_per("div.s32 %r1, %r1, %r0;\n"), 127, 0.1 * 127);
  EXPECT_EQ(cycles_per("popc.b32 %r1, %r1;\n"), 15);
  EXPECT_EQ(cycles_per("brev.b32 %r1, %r1;\n"), 15);
  EXPECT_EQ(cycles_per("mul.hi.u32 %r1, %r1, %r0;\n"), 12);
  EXPECT_EQ(cycles_per("fma.rn.f32 %f1, %f1, %f1, %f1;\n"), 4);
  EXPECT_EQ(cycles_per("fma.rn.f64 %fd1, %fd1, %fd1, %fd1;\n"), 8);
}

/// gpu-benches: 111.5 cycles of a dependent division, one in 7.5 cycles from an SM full of warps.
TEST(Expansions, ADoublePrecisionDivisionIsBoundByItsUnit) {
  EXPECT_NEAR(cycles_per("div.rn.f64 %fd1, %fd1, %fd2;\n"), 111.5, 0.05 * 111.5);
  EXPECT_NEAR(cycles_per("div.rn.f64 %fd1, %fd1, %fd2;\n", 32) / 32, 7.5, 0.1 * 7.5);
}

/// The path of normal operands: a special function, five dependent FFMA, branch and convergence.
TEST(Expansions, ASinglePrecisionDivisionTakesItsFastPath) {
  EXPECT_EQ(cycles_per("div.rn.f32 %f1, %f1, %f2;\n"), 22 + 5 * 4 + 2 * 5);
}

TEST(Expansions, ProductsAndSumsRunOnDifferentPipes) {
  // 128 lanes a cycle: four sub-cores issue one each.
  std::string mix;
  for (int i = 10; i < 26; ++i) {
    const std::string r = "%r" + std::to_string(i);
    mix += (i % 2 == 0 ? "mad.lo.u32 " + r + ", " + r + ", %r0, " + r
                       : "add.u32 " + r + ", " + r + ", %r0") +
           ";\n";
  }
  EXPECT_NEAR(cycles_per(mix, 32), 16 * 32 / 4, 2);
}

TEST(Expansions, MovesAndAdditionsFillTheMultipliersPipe) {
  std::string sums;
  for (int i = 10; i < 26; ++i)
    sums += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i) + ", %r0;\n";
  EXPECT_NEAR(cycles_per(sums, 32), 16 * 32 / 4, 2);
  std::string logic;  // which a multiplier cannot do
  for (int i = 10; i < 26; ++i)
    logic += "xor.b32 %r" + std::to_string(i) + ", %r" + std::to_string(i) + ", %r0;\n";
  EXPECT_NEAR(cycles_per(logic, 32), 2 * 16 * 32 / 4, 4);
}

TEST(Expansions, CostTheirSlotsWhereTheMachineSaysSo) {
  IdealMachine::Options
      options;  // 28 slots of the integer unit, an interval of 2, operands, result
  const auto cycles = [&](unsigned n) {
    return cycles_of(times(n, "div.s32 %r1, %r1, %r0;\n"), options, 1);
  };
  EXPECT_EQ((cycles(48) - cycles(16)) / 32, 2 + 2 + 27 * 2);
}

}  // namespace
}  // namespace lockstep::expansion_timing_test
