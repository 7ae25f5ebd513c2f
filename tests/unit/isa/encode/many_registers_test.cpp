/// Modules with more virtual registers than instructions can name.
#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::many_registers_test {
namespace {

LOCKSTEP_BOTH_FORMS(ManyRegisters);

/// `line` with the number in place of "#".
std::string numbered(const std::string& line, unsigned number) {
  std::string text;
  for (const char c : line) text += c == '#' ? std::to_string(number) : std::string(1, c);
  return text;
}
/// `line` for each number from 0.
std::string repeated(unsigned count, const std::string& line) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += numbered(line, i);
  return text;
}

const std::string count_of_r2 = "st.global.u32 [%rd2], %r2;\nret;\n";

TEST_P(ManyRegisters, PredicatesUsedOneAfterTheOther) {
  const auto out =
      run_block(kernel_text(".reg .pred %q<300>;\nmov.u32 %r2, 0;\n" +
                            repeated(300, "setp.gt.u32 %q#, %r1, #;\n@%q# add.u32 %r2, %r2, 1;\n") +
                            count_of_r2),
                320, GetParam());
  for (std::uint32_t i = 0; i < 320; ++i) EXPECT_EQ(out[i], std::min(i, 300u)) << i;
}

TEST_P(ManyRegisters, PredicatesNeededAtTheSameTime) {
  const auto out =
      run_block(kernel_text(".reg .pred %q<300>;\nmov.u32 %r2, 0;\n" +
                            repeated(300, "setp.gt.u32 %q#, %r1, #;\n") +
                            repeated(300, "@%q# add.u32 %r2, %r2, 1;\n") + count_of_r2),
                320, GetParam());
  for (std::uint32_t i = 0; i < 320; ++i) EXPECT_EQ(out[i], std::min(i, 300u)) << i;
}

TEST_P(ManyRegisters, ValuesBeyondTheRowsThatOperandsName) {
  constexpr unsigned values = 17000;
  const auto out = run_block(
      kernel_text(".reg .b32 %v<17000>;\nmov.u32 %r2, 0;\n" +
                  repeated(values, "xor.b32 %v#, %r2, %r1;\nmad.lo.u32 %r2, %v#, 3, 1;\n") +
                  count_of_r2),
      32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) {
    std::uint32_t expected = 0;
    for (std::uint32_t k = 0; k < values; ++k) expected = 3 * (expected ^ i) + 1;
    EXPECT_EQ(out[i], expected) << i;
  }
}

/// Ten times twenty values that stay, and before them four pairs whose rows they take.
std::string pairs_before_singles() {
  std::string body = ".reg .b32 %q<200>;\n.reg .b64 %w<40>;\n";
  for (unsigned round = 0; round < 10; ++round) {
    for (const std::string line :
         {"ld.volatile.global.u64 %w#, [%rd1];\n", "st.volatile.global.u64 [%rd1], %w#;\n"})
      for (unsigned i = 0; i < 4; ++i) body += numbered(line, 4 * round + i);
    for (unsigned i = 0; i < 20; ++i)
      body +=
          numbered("add.u32 %q#, %r1, #;\nst.volatile.global.u32 [%rd2], %q#;\n", 20 * round + i);
  }
  return body + "mov.u32 %r2, 0;\n" + repeated(200, "add.u32 %r2, %r2, %q#;\n") + count_of_r2;
}

TEST_P(ManyRegisters, PairsWhoseRowsHoldSingleValuesLater) {
  const std::string text = kernel_text(pairs_before_singles());
  const auto out = run_block(text, 32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 199 * 200 / 2 + 200 * i) << i;
  const Program program = load_module_text(text, "pairs.ptx").kernels[0].lowered;
  EXPECT_LE(program.rows, 256u);
  EXPECT_EQ(program.local_bytes, 0u) << "values were spilled";
}

/// Functions f0, f1, ... that do `before`, call the next one and do `after`; the last one
/// returns its argument.
std::string chain(unsigned depth, const std::string& registers, const std::string& before,
                  const std::string& after) {
  std::string text;
  for (unsigned f = depth; f-- > 0;) {
    const std::string next = "f" + std::to_string(f + 1);
    text += ".func (.param .b32 r) f" + std::to_string(f) + "(.param .b32 x)\n{\n" + registers +
            ".reg .b32 %a<3>;\nld.param.u32 %a1, [x];\nmov.u32 %a2, %a1;\n";
    if (f + 1 < depth)
      text += before + "{ .param .b32 p; .param .b32 q;\nst.param.b32 [p], %a1;\ncall.uni (q), " +
              next + ", (p);\nld.param.b32 %a2, [q];\n}\n" + after;
    text += "st.param.b32 [r], %a2;\nret;\n}\n";
  }
  return text;
}
const std::string call_of_chain =
    "{ .param .b32 p; .param .b32 q;\nst.param.b32 [p], %r1;\ncall.uni (q), f0, (p);\n"
    "ld.param.b32 %r2, [q];\n}\n";

TEST_P(ManyRegisters, PredicatesOfFunctionsBelowEachOther) {
  const std::string functions =
      chain(10, ".reg .pred %q<30>;\n", repeated(30, "setp.gt.u32 %q#, %a1, #;\n"),
            repeated(30, "@%q# add.u32 %a2, %a2, 1;\n"));
  const auto out = run_block(kernel_text(call_of_chain + count_of_r2, functions), 64, GetParam());
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i + 9 * std::min(i, 30u)) << i;
}

TEST(TooManyConstants, AreRefusedWithAPlaceAndAdvice) {
  // Those of 64 bits take two rows.
  const std::string text = kernel_text(repeated(8200, "st.global.u64 [%rd1], #;\n") + "ret;\n");
  try {
    load_module_text(text, "constants.ptx");
    FAIL() << "loaded";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("constants.ptx:"), std::string::npos) << message;
    EXPECT_NE(message.find("keep some in memory or split"), std::string::npos) << message;
  }
}

TEST(TooManyRegisters, AreRefusedWithTheKernelsPlaceAndAdvice) {
  const std::string functions = chain(40, ".reg .b32 %v<30>;\n",
                                      repeated(30,
                                               "mul.lo.u32 %v#, %a1, %a1;\n"
                                               "xor.b32 %v#, %v#, #;\n"),
                                      repeated(30, "mad.lo.u32 %a2, %a2, %v#, %a1;\n"));
  try {
    load_module_text(kernel_text(call_of_chain + count_of_r2, functions), "deep.ptx");
    FAIL() << "loaded";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("deep.ptx:"), std::string::npos) << message;
    EXPECT_NE(message.find(": kernel k and the functions it calls"), std::string::npos) << message;
    EXPECT_NE(message.find("inlined or split the kernel"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace lockstep::isa::many_registers_test
