/// Cycles of the pipeline, measured by the clock register of one warp.
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::pipeline_test {
namespace {

/// Cycles from the clock read before `body` to the one behind it, in the first thread.
std::int64_t cycles_of(const std::string& body, IdealMachine::Options options = {},
                       const std::string& before = "", const std::string& declarations = "",
                       std::uint32_t threads = 32) {
  IdealMachine machine(kernel_of(before + "mov.u32 %r90, %clock;\n" + body +
                                     "mov.u32 %r91, %clock;\n"
                                     "sub.u32 %r92, %r91, %r90;\n"
                                     "st.global.u32 [%rd0], %r92;\n",
                                 declarations),
                       options);
  // A ring of pointers for chases: every word holds the address of the next line.
  for (std::uint64_t i = 0; i < 64; ++i)
    machine.put<std::uint64_t>(4096 + 128 * i, machine.address(4096 + 128 * ((i + 1) % 64)));
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {machine.address(0), machine.address(4096), 5});
  machine.run();
  return machine.get<std::uint32_t>(0);
}

/// Cycles that each of many copies of `step` costs.
std::int64_t cycles_per(const std::string& step, IdealMachine::Options options = {},
                        const std::string& before = "", const std::string& declarations = "") {
  const std::int64_t few = cycles_of(times(8, step), options, before, declarations);
  const std::int64_t many = cycles_of(times(24, step), options, before, declarations);
  EXPECT_EQ((many - few) % 16, 0);
  return (many - few) / 16;
}

TEST(Pipeline, DependentAddIssuesAfterOperandReadAndLatency) {
  IdealMachine::Options options;
  EXPECT_EQ(cycles_per("add.u32 %r1, %r1, %r0;\n"), 2 + 2);
  options.parameters.operand_read = Cycles{5};
  options.parameters.latency[isa::LatencyClass::integer] = Cycles{3};
  EXPECT_EQ(cycles_per("add.u32 %r1, %r1, %r0;\n", options), 5 + 3);
}

/// Eight integer additions, each of which depends only on the one eight before.
std::string independent(const std::string& operation, const std::string& kind) {
  std::string text;
  for (int i = 10; i < 18; ++i) {
    const std::string r = "%" + kind + std::to_string(i);
    text += operation + " " + r + ", " + r + ", " + r + ";\n";
  }
  return text;
}
const std::string independent_adds = independent("add.u32", "r");

TEST(Pipeline, IndependentAddsFollowAtTheInitiationInterval) {
  EXPECT_EQ(cycles_per(independent_adds), 8 * 2);
}

TEST(Pipeline, DifferentUnitsTakeInstructionsInConsecutiveCycles) {
  std::string both;
  for (int i = 10; i < 18; ++i)
    both += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i) + ", %r0;\nadd.f32 %f" +
            std::to_string(i) + ", %f" + std::to_string(i) + ", %f0;\n";
  EXPECT_EQ(cycles_per(both), 16);
}

TEST(Pipeline, AWideSchedulerIssuesTwoInstructionsOfAWarpInACycle) {
  IdealMachine::Options options;
  options.parameters.interval[isa::LatencyClass::integer] = Cycles{1};
  options.parameters.sub_cores = false;
  EXPECT_EQ(cycles_per(independent_adds, options), 8);
  options.parameters.issue_width = 2;
  EXPECT_EQ(cycles_per(independent_adds, options), 4);
}

TEST(Pipeline, WriteWaitsForTheWriteBeforeIt) {
  EXPECT_EQ(cycles_per("add.u32 %r1, %r0, %r0;\n"), 4);
}

TEST(Pipeline, EachClassHasItsOwnLatency) {
  EXPECT_EQ(cycles_per("fma.rn.f32 %f1, %f1, %f1, %f1;\n"), 2 + 2);
  EXPECT_EQ(cycles_per("fma.rn.f64 %fd1, %fd1, %fd1, %fd1;\n"), 2 + 6);
  EXPECT_EQ(cycles_per("popc.b32 %r1, %r1;\n"), 2 + 20);
}

TEST(Pipeline, PairsOfHalvesArePackedBesideSpecialFunctions) {
  std::string functions, both;
  for (int i = 10; i < 18; ++i) {
    const std::string n = std::to_string(i);
    const std::string pack = "cvt.rn.f16x2.f32 %r" + n + ", %f1, %f0;\n";
    const std::string function = "ex2.approx.ftz.f32 %f" + n + ", %f" + n + ";\n";
    functions += function;
    both += function + pack;
  }
  EXPECT_EQ(cycles_per(functions), 8 * 8);
  EXPECT_EQ(cycles_per(both), 8 * 8);
}

/// ptxas tests for the slow path of a division of floats and branches; that of integers has none.
TEST(Pipeline, ExpansionsWithBranchesDoNotOverlapWithinAWarp) {
  IdealMachine::Options options;
  options.parameters.expansions = Expansions::sequence;
  const std::int64_t one = cycles_per("div.rn.f32 %f1, %f1, %f0;\n", options);
  EXPECT_EQ(cycles_per("div.rn.f32 %f1, %f1, %f0;\ndiv.rn.f32 %f2, %f2, %f0;\n", options), 2 * one);
  const std::int64_t integers = cycles_per("div.s32 %r1, %r1, %r0;\n", options);
  EXPECT_LT(cycles_per("div.s32 %r1, %r1, %r0;\ndiv.s32 %r2, %r2, %r0;\n", options), 2 * integers);
}

TEST(Pipeline, AnExpansionThatNoLaneExecutesIsSkipped) {
  IdealMachine::Options options;
  options.parameters.expansions = Expansions::sequence;
  const std::string never = "setp.eq.u32 %p1, %r0, 77;\n";
  const std::string division = "div.rn.f32 %f1, %f1, %f0;\n";
  EXPECT_LT(cycles_of("@%p1 " + division, options, never), cycles_of(division, options, never));
}

TEST(Pipeline, SharedLoadChainCostsItsLatency) {
  EXPECT_EQ(cycles_per("ld.shared.u32 %r1, [%r1];\n", {}, "mov.u32 %r1, 0;\n",
                       ".shared .align 8 .b8 buffer[256];\n mov.u32 %r80, buffer;\n"),
            24);
}

TEST(Pipeline, GlobalHitChainCostsTheHitLatency) {
  const std::string warm = "mov.u64 %rd5, %rd1;\n" + times(64, "ld.global.u64 %rd5, [%rd5];\n");
  EXPECT_EQ(cycles_per("ld.global.u64 %rd5, [%rd5];\n", {}, warm), 28);
}

TEST(Pipeline, GlobalMissChainCostsTheWholeWay) {
  // Injection, link, memory, link, one flit, fill.
  EXPECT_EQ(cycles_per("ld.global.cg.u64 %rd5, [%rd5];\n", {}, "mov.u64 %rd5, %rd1;\n"),
            10 + 140 + 33 + 20 + 1 + 8);
}

TEST(Pipeline, TakenBranchRefillsTheInstructionBuffer) {
  const std::string compare = "setp.eq.u32 %p1, %r0, 77;\n" + times(8, "add.u32 %r1, %r1, %r0;\n");
  const std::int64_t taken = cycles_of("@!%p1 bra over;\nover:\n", {}, compare);
  const std::int64_t not_taken = cycles_of("@%p1 bra over;\nover:\n", {}, compare);
  EXPECT_EQ(taken - not_taken, 4 - 1);
}

TEST(Pipeline, ATakenBranchMayTakeLongerThanOneThatNoLaneTakes) {
  const std::string compare = "setp.eq.u32 %p1, %r0, 77;\n" + times(8, "add.u32 %r1, %r1, %r0;\n");
  const std::string taken = "@!%p1 bra over;\nover:\n", passed = "@%p1 bra over;\nover:\n";
  IdealMachine::Options options;
  options.parameters.latency[isa::LatencyClass::control] = Cycles{5};
  const std::int64_t plain = cycles_of(passed, options, compare);
  options.parameters.latency.taken_branch = Cycles{9};
  EXPECT_EQ(cycles_of(passed, options, compare) - plain, 5 - 1);
  EXPECT_EQ(cycles_of(taken, options, compare) - plain, 9 - 1);
}

TEST(Pipeline, SleepTakesTheTimeOfTheLongestSleeper) {
  IdealMachine::Options options;
  options.parameters.clock = Frequency{2e9};
  EXPECT_EQ(cycles_per("nanosleep.u32 100;\n", options), 200);
  EXPECT_EQ(cycles_per("nanosleep.u32 0;\n", options), 2) << "of the control unit";
  EXPECT_EQ(cycles_per("nanosleep.u32 %r1;\n", options, "mov.u32 %r1, %laneid;\n"), 2 * 31);
  EXPECT_EQ(cycles_per("nanosleep.u32 3000000000;\n", options), 2'000'000) << "a millisecond";
}

TEST(Pipeline, ConstantBankServesDifferentWordsOneAfterTheOther) {
  const auto cycles = [](const std::string& address) {
    IdealMachine machine(kernel_of("mov.u64 %rd5, table;\nmov.u32 %r1, %laneid;\n"
                                   "mul.wide.u32 %rd6, %r1, 4;\n" +
                                       address +
                                       "add.u64 %rd7, %rd5, %rd6;\nmov.u32 %r90, %clock;\n"
                                       "ld.const.u32 %r2, [%rd7];\nadd.u32 %r2, %r2, %r2;\n"
                                       "mov.u32 %r91, %clock;\nsub.u32 %r92, %r91, %r90;\n"
                                       "st.global.u32 [%rd0], %r92;\n",
                                   "", ".const .align 4 .b8 table[256];\n"),
                         {});
    machine.launch("k", {1, 1, 1}, {32, 1, 1}, {machine.address(0), machine.address(0), 0});
    machine.run();
    return machine.get<std::uint32_t>(0);
  };
  EXPECT_EQ(cycles("") - cycles("mov.u64 %rd6, 0;\n"), 31u);
}

TEST(Pipeline, SchedulersIssueSideBySide) {
  // Four warps on four sub-cores take as long as one; five share one of them.
  const std::string body = times(8, independent_adds);
  const std::int64_t one = cycles_of(body, {}, "", "", 32);
  EXPECT_EQ(cycles_of(body, {}, "", "", 128), one);
  EXPECT_GT(cycles_of(body, {}, "", "", 160), one + 32);
}

TEST(Pipeline, SharedUnitsServeAllSchedulers) {
  IdealMachine::Options options;
  options.parameters.sub_cores = false;
  options.parameters.units[isa::Unit::integer] = 2;
  const std::string body = times(8, independent_adds);
  const std::int64_t own = cycles_of(body, {}, "", "", 128);
  const std::int64_t shared = cycles_of(body, options, "", "", 128);
  EXPECT_NEAR(static_cast<double>(shared), 2.0 * static_cast<double>(own), 20);
}

}  // namespace
}  // namespace lockstep::pipeline_test
