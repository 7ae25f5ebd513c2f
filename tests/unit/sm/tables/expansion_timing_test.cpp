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
  const isa::Module module = kernel_of(body, ".reg .b16 %h<2>;\n");
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

struct Published {
  const char *step, *opcode;
  int latency;  ///< cycles
  int lanes;    ///< a cycle and SM
};

/// Lanes: CUDA C++ Programming Guide, arithmetic instructions of compute capability 7.0, but for
/// minima of integers (ptxas compares and selects, two of 64) and 64-bit products (it starts one in
/// four cycles).  Latencies: PPT, where that measured a chain, else what ptxas 11.8 waits for
/// sm_70.
constexpr Published table[] = {
    {"add.s32 %r1, %r1, %r0;\n", "add", 4, 64},
    {"xor.b32 %r1, %r1, %r0;\n", "xor", 4, 64},
    {"shl.b32 %r1, %r1, %r0;\n", "shl", 4, 64},
    {"setp.lt.s32 %p1, %r1, %r0;\n", "setp", 12, 64},
    {"setp.lt.f32 %p1, %f1, %f0;\n", "setp", 12, 64},
    {"min.f32 %f1, %f1, %f0;\n", "min", 4, 64},
    {"min.s32 %r1, %r1, %r0;\n", "min", 8, 32},
    {"max.u32 %r1, %r1, %r0;\n", "max", 8, 32},
    {"max.s64 %rd1, %rd1, %rd0;\n", "max", 12, 16},
    {"min.f64 %fd1, %fd1, %fd0;\n", "min", 24, 8},
    {"sad.s32 %r1, %r1, %r0, %r0;\n", "sad", 4, 64},
    {"bfe.u32 %r1, %r1, %r0, %r2;\n", "bfe", 12, 12},
    {"popc.b32 %r1, %r1;\n", "popc", 15, 16},
    {"brev.b32 %r1, %r1;\n", "brev", 15, 16},
    {"bfind.u32 %r1, %r1;\n", "bfind", 15, 16},
    {"clz.b32 %r1, %r1;\n", "clz", 19, 16},
    {"mul.lo.s32 %r1, %r1, %r0;\n", "mul", 4, 64},
    {"mad.lo.s32 %r1, %r1, %r0, %r2;\n", "mad", 4, 64},
    {"dp4a.s32.s32 %r1, %r1, %r0, %r2;\n", "dp4a", 4, 64},
    {"mul.hi.s32 %r1, %r1, %r0;\n", "mul", 12, 32},
    {"mul.wide.s32 %rd1, %r1, %r0;\n", "mul", 6, 32},
    {"mad.wide.u32 %rd1, %r1, %r0, %rd1;\n", "mad", 6, 32},
    {"fma.rn.f32 %f1, %f1, %f0, %f0;\n", "fma", 4, 64},
    {"fma.rn.f64 %fd1, %fd1, %fd0, %fd0;\n", "fma", 8, 32},
    {"fma.rn.f16x2 %r1, %r1, %r0, %r0;\n", "fma", 6, 64},
    {"add.f16 %h1, %h1, %h0;\n", "add", 6, 64},
    {"ex2.approx.ftz.f32 %f1, %f1;\n", "ex2", 22, 16},
    {"cvt.rn.f32.s32 %f1, %r0;\n", "cvt", 15, 16},
    {"cvt.rzi.s32.f32 %r1, %f0;\n", "cvt", 15, 16},
    {"cvt.f32.f16 %f1, %h0;\n", "cvt", 6, 64},
    {"cvt.u32.u16 %r1, %h0;\n", "cvt", 4, 64},
    {"shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;\n", "shfl", 22, 32},
};

TEST(Expansions, AndOneMachineOperationTakeAsLongAndAreAsManyAsPublished) {
  const SmParameters parameters = v100();
  for (const Published& row : table) {
    const IssueRecord found = record(row.step, row.opcode, parameters);
    EXPECT_EQ(found.latency, row.latency) << row.step;
    EXPECT_EQ(static_cast<int>(parameters.schedulers * 32 / found.interval), row.lanes) << row.step;
  }
}

/// ptxas 11.8, sm_70: FMNMX starts two cycles after LOP3, FFMA and LOP3 one after HFMA2.
TEST(Expansions, RunWhereTheyHinderWhatTheyHinderOnVolta) {
  EXPECT_TRUE(is_on(record("min.f32 %f1, %f1, %f0;\n", "min"), isa::Unit::integer));
  EXPECT_TRUE(is_on(record("setp.lt.f32 %p1, %f1, %f0;\n", "setp"), isa::Unit::integer));
  EXPECT_TRUE(is_on(record("fma.rn.f16x2 %r1, %r1, %r0, %r0;\n", "fma"), isa::Unit::half));
  EXPECT_TRUE(is_on(record("mul.wide.s32 %rd1, %r1, %r0;\n", "mul"), isa::Unit::fp32));
  SmParameters parameters = v100();
  parameters.multiply_unit = MultiplyUnit::integer;
  EXPECT_TRUE(is_on(record("min.f32 %f1, %f1, %f0;\n", "min", parameters), isa::Unit::fp32));
}

/// gpu-benches: 111.5 cycles, and one in 7.5 cycles from an SM of four sub-cores.
TEST(Expansions, ADoublePrecisionDivisionIsBoundByItsUnit) {
  const IssueRecord division = record("div.rn.f64 %fd1, %fd1, %fd2;\n", "div");
  EXPECT_NEAR(division.latency, 111.5, 0.05 * 111.5);
  EXPECT_NEAR(division.interval / 4.0, 7.5, 0.1 * 7.5);
  EXPECT_TRUE(is_on(division, isa::Unit::fp64));
}

/// The path of normal operands: a special function, five dependent FFMA, branch and convergence. By
/// a constant the check of the operands takes longest, and of a root the comparison that checks it.
TEST(Expansions, ASinglePrecisionDivisionTakesItsFastPath) {
  const std::string by_register = "div.rn.f32 %f1, %f1, %f2;\n";
  const std::string by_constant = "div.rn.f32 %f1, %f1, 0f3F800008;\n";
  const std::string root = "sqrt.rn.f32 %f1, %f1;\n";
  EXPECT_EQ(record(by_register, "div").latency, 22 + 5 * 4 + 9 + 5);
  EXPECT_EQ(record(by_constant, "div").latency, 24 + 9 + 5);
  EXPECT_EQ(record(root, "sqrt").latency, 4 + 12 + 9 + 3 * 4 + 5);
  SmParameters parameters = v100();
  parameters.latency.taken_branch = Cycles{0};
  EXPECT_EQ(record(by_register, "div", parameters).latency, 22 + 5 * 4 + 2 * 5);
  EXPECT_EQ(record(by_constant, "div", parameters).latency, 24 + 2 * 5);
  EXPECT_EQ(record(root, "sqrt", parameters).latency, 4 + 12 + 5 + 3 * 4 + 5);
}

/// A TITAN V (docs/validation/lowering.md): a division by a constant in 4.0 cycles of an SM of four
/// sub-cores, bound by FCHK; two conversions in 4.0 cycles.
TEST(Expansions, ADivisionByAConstantIsBoundByTheCheckOfItsOperands) {
  const IssueRecord division = record("div.rn.f32 %f1, %f1, 0f3F800008;\n", "div");
  EXPECT_EQ(division.interval, 16);
  EXPECT_TRUE(is_on(division, isa::Unit::special));
}

/// forums.developer.nvidia.com, 168371: one in 6.36 cycles from an SM of four sub-cores.
TEST(Expansions, ASinglePrecisionDivisionIsBoundByItsSpecialFunctions) {
  const IssueRecord division = record("div.rn.f32 %f1, %f1, %f2;\n", "div");
  EXPECT_NEAR(division.interval / 4.0, 6.36, 0.07 * 6.36);
  EXPECT_TRUE(is_on(division, isa::Unit::special));
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
  EXPECT_NEAR(moved(sixteen("add.u32"), "add"), 8, 2) << "parameters are moved, too";
  EXPECT_EQ(moved(sixteen("xor.b32"), "xor"), 0u) << "which a multiplier cannot do";
}

/// A product of 64 bits keeps its pipe for as long as two additions do.
TEST(Expansions, AdditionsStayWhereFewProductsTakeLong) {
  std::string mix;
  for (int i = 10; i < 18; ++i)
    mix += "mul.wide.u32 %rd" + std::to_string(i) + ", %r0, %r0;\nadd.u32 %r" +
           std::to_string(2 * i) + ", %r0, %r0;\nadd.u32 %r" + std::to_string(2 * i + 1) +
           ", %r0, %r0;\n";
  EXPECT_LE(moved(mix, "add"), 2u) << "for the moves of parameters";
}

/// An addition and a product in turns: 128 lanes a cycle, since each pipe has one in two.
TEST(Expansions, AdditionsStayWhereProductsFillTheOtherPipe) {
  std::string mix;
  for (int i = 10; i < 26; i += 2)
    mix += "mad.lo.u32 %r" + std::to_string(i) + ", %r0, %r0, %r0;\nadd.u32 %r" +
           std::to_string(i + 1) + ", %r0, %r0;\n";
  EXPECT_LE(moved(mix, "add"), 2u) << "for the moves of parameters";
  EXPECT_EQ(moved(mix, "mad"), 8u);
}

}  // namespace
}  // namespace lockstep::expansion_timing_test
