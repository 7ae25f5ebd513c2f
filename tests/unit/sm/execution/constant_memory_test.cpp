/// Loads from constant memory by an index: what their words cost at the SM's port.
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::constant_memory_test {
namespace {

constexpr const char* table = ".const .align 4 .b32 table[64];\n";

IdealMachine::Options with_interval(std::int64_t cycles) {
  IdealMachine::Options options;
  options.parameters.constant_interval = Cycles(cycles);
  return options;
}

/// Cycles that one block of so many warps runs; each does `loads` loads of the place (lane modulo
/// words) of the table, which is 0 there, one after the other if `dependent`.
std::int64_t cycles_of(const IdealMachine::Options& options, unsigned words, unsigned loads,
                       bool dependent = true, unsigned warps = 1) {
  const std::string load = dependent ? "ld.const.u32 %r3, [%r2];\nadd.u32 %r2, %r2, %r3;\n"
                                     : "ld.const.u32 %r3, [%r2];\n";
  IdealMachine machine(
      kernel_of("mov.u32 %r1, %laneid;\nand.b32 %r1, %r1, " + std::to_string(words - 1) +
                    ";\nshl.b32 %r1, %r1, 2;\nmov.u32 %r2, table;\nadd.u32 %r2, %r2, %r1;\n" +
                    times(loads, load) + "st.global.u32 [%rd0], %r3;\n",
                "", table),
      options);
  machine.launch("k", {1, 1, 1}, {32 * warps, 1, 1},
                 {machine.address(0), machine.address(4096), 3});
  const std::int64_t end = machine.run();
  EXPECT_EQ(machine.get<std::uint32_t>(0), 0u);
  return end;
}

/// More cycles that a block of one warp takes for each of ten loads more.
std::int64_t of_a_load(const IdealMachine::Options& options, unsigned words) {
  return (cycles_of(options, words, 20) - cycles_of(options, words, 10)) / 10;
}

TEST(ConstantMemory, EachFurtherWordTakesALoadAsLongAsThePortTakesForIt) {
  const IdealMachine::Options options = with_interval(3);
  const std::int64_t one = of_a_load(options, 1);
  EXPECT_EQ(of_a_load(options, 2), one + 3);
  EXPECT_EQ(of_a_load(options, 8), one + 7 * 3);
  EXPECT_EQ(of_a_load(options, 32), one + 31 * 3);
}

TEST(ConstantMemory, WithoutAPortEachFurtherWordTakesACycle) {
  const IdealMachine::Options options = with_interval(0);
  const std::int64_t one = of_a_load(options, 1);
  EXPECT_EQ(one, of_a_load(with_interval(3), 1));
  EXPECT_EQ(of_a_load(options, 8), one + 7);
}

TEST(ConstantMemory, WordsOfAllWarpsPassOnePort) {
  const IdealMachine::Options options = with_interval(3);
  const auto all = [&](unsigned loads) { return cycles_of(options, 8, loads, true, 16); };
  EXPECT_EQ(all(12) - all(4), 8 * 16 * 8 * 3) << "8 loads of 16 warps, of 8 words";
}

TEST(ConstantMemory, WithoutAPortWarpsDoNotWaitForEachOther) {
  const IdealMachine::Options options = with_interval(0);
  const auto all = [&](unsigned loads) { return cycles_of(options, 8, loads, true, 16); };
  EXPECT_LT(all(12) - all(4), 8 * (of_a_load(options, 8) + 16));
}

/// A block's end, when it is stopped and goes on in a new SM at the cycle `at`.
std::int64_t end_when_saved_at(std::int64_t at) {
  IdealMachine machine(
      kernel_of("mov.u32 %r1, %laneid;\nshl.b32 %r1, %r1, 2;\nmov.u32 %r2, table;\n"
                "add.u32 %r2, %r2, %r1;\n" +
                    times(6, "ld.const.u32 %r3, [%r2];\nadd.u32 %r2, %r2, %r3;\n") +
                    "st.global.u32 [%rd0], %r3;\n",
                "", table),
      with_interval(5));
  machine.launch("k", {1, 1, 1}, {128, 1, 1}, {machine.address(0), machine.address(4096), 3});
  if (at > 0) {
    machine.run_to(at);
    machine.save_and_restore();
  }
  return machine.run();
}

TEST(ConstantMemory, ASavedPortIsBusyForAsLong) {
  const std::int64_t whole = end_when_saved_at(0);
  for (const std::int64_t at : {300, 700, 1500}) EXPECT_EQ(end_when_saved_at(at), whole) << at;
}

}  // namespace
}  // namespace lockstep::constant_memory_test
