/// What operations cost that ptxas expands, on the V100: latencies and rates against measured ones.
#include "models/sm/tables/expansion_timing.hpp"

#include <gtest/gtest.h>

#include "core/parameters/document.hpp"
#include "models/isa/opcodes/table.hpp"
#include "models/sm/tables/issue_tables.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::expansion_timing_test {
namespace {

SmParameters v100() {
  const Node file = load_document(LOCKSTEP_SOURCE_DIR "/configs/gpus/v100.yaml");
  return read_parameters<SmParameters>(file.at("sm"));
}

/// What an SM knows of the operations with this name in `body`.
std::vector<IssueRecord> records(const SmParameters& parameters, const std::string& body,
                                 const std::string& opcode) {
  const isa::Module module = kernel_of(body);
  const IssueTables tables(parameters, {&module});
  std::vector<IssueRecord> found;
  const auto& instructions = module.kernels[0].lowered.instructions;
  for (std::size_t pc = 0; pc < instructions.size(); ++pc)
    if (isa::facts_of(instructions[pc].opcode).name == opcode)
      found.push_back(tables.of(0, 0).records[pc]);
  return found;
}

IssueRecord record(const std::string& step, const std::string& opcode,
                   const SmParameters& parameters = v100()) {
  const auto found = records(parameters, step, opcode);
  EXPECT_EQ(found.size(), 1u) << step;
  return found.empty() ? IssueRecord() : found[0];
}

bool is_on(const IssueRecord& record, isa::Unit unit) {
  return record.unit == static_cast<std::uint8_t>(unit);
}

/// PPT (Arafa et al. 2019): latencies of a V100.
TEST(Expansions, TakeAsLongAsMeasured) {
  EXPECT_NEAR(record("div.s32 %r1, %r1, %r0;\n", "div").latency, 127, 0.1 * 127);
  EXPECT_EQ(record("popc.b32 %r1, %r1;\n", "popc").latency, 15);
  EXPECT_EQ(record("brev.b32 %r1, %r1;\n", "brev").latency, 15);
  EXPECT_EQ(record("mul.hi.u32 %r1, %r1, %r0;\n", "mul").latency, 12);
  EXPECT_EQ(record("fma.rn.f32 %f1, %f1, %f1, %f1;\n", "fma").latency, 4);
  EXPECT_EQ(record("fma.rn.f64 %fd1, %fd1, %fd1, %fd1;\n", "fma").latency, 8);
}

/// gpu-benches: 111.5 cycles, and one in 7.5 cycles from an SM of four sub-cores.
TEST(Expansions, ADoublePrecisionDivisionIsBoundByItsUnit) {
  const IssueRecord division = record("div.rn.f64 %fd1, %fd1, %fd2;\n", "div");
  EXPECT_NEAR(division.latency, 111.5, 0.05 * 111.5);
  EXPECT_NEAR(division.interval / 4.0, 7.5, 0.1 * 7.5);
  EXPECT_TRUE(is_on(division, isa::Unit::fp64));
}

/// The path of normal operands: a special function, five dependent FFMA, branch and convergence.
TEST(Expansions, ASinglePrecisionDivisionTakesItsFastPath) {
  EXPECT_EQ(record("div.rn.f32 %f1, %f1, %f2;\n", "div").latency, 22 + 5 * 4 + 2 * 5);
}

TEST(Expansions, CostTheirSlotsWhereTheMachineSaysSo) {
  SmParameters parameters = v100();
  parameters.expansions = Expansions::slots;
  const IssueRecord division = record("div.s32 %r1, %r1, %r0;\n", "div", parameters);
  EXPECT_EQ(division.latency, 2 + 2 + 27 * 2) << "28 slots of the integer unit";
  EXPECT_EQ(division.interval, 28 * 2);
}

TEST(Expansions, ProductsRunOnThePipeThatTheMachineNames) {
  const std::string product = "mad.lo.u32 %r1, %r1, %r0, %r1;\n";
  SmParameters parameters = v100();
  EXPECT_TRUE(is_on(record(product, "mad", parameters), isa::Unit::fp32));
  parameters.multiply_unit = MultiplyUnit::integer;
  EXPECT_TRUE(is_on(record(product, "mad", parameters), isa::Unit::integer));
}

std::string sixteen(const std::string& operation) {
  std::string text;
  for (int i = 10; i < 26; ++i)
    text += operation + " %r" + std::to_string(i) + ", %r" + std::to_string(i) + ", %r0;\n";
  return text;
}

unsigned moved(const std::string& body, const std::string& opcode) {
  unsigned count = 0;
  for (const IssueRecord& r : records(v100(), body, opcode)) count += is_on(r, isa::Unit::fp32);
  return count;
}

TEST(Expansions, HalfOfTheAdditionsGoToTheMultipliersPipe) {
  EXPECT_NEAR(moved(sixteen("add.u32"), "add"), 8, 1) << "parameters are moved, too";
  EXPECT_EQ(moved(sixteen("xor.b32"), "xor"), 0u) << "which a multiplier cannot do";
}

/// An addition and a product in turns: 128 lanes a cycle, since each pipe has one in two.
TEST(Expansions, AdditionsStayWhereProductsFillTheOtherPipe) {
  std::string mix;
  for (int i = 10; i < 26; i += 2)
    mix += "mad.lo.u32 %r" + std::to_string(i) + ", %r0, %r0, %r0;\nadd.u32 %r" +
           std::to_string(i + 1) + ", %r0, %r0;\n";
  EXPECT_LE(moved(mix, "add"), 1u) << "for the moves of parameters";
  EXPECT_EQ(moved(mix, "mad"), 8u);
}

}  // namespace
}  // namespace lockstep::expansion_timing_test
