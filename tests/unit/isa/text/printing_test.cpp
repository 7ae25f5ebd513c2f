/// printf in a kernel: a call of vprintf.
#include <set>

#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"
#include "tests/unit/isa/texts.hpp"

namespace lockstep::isa::printing_test {
namespace {

LOCKSTEP_BOTH_FORMS(Printing);

/// printf(format, thread's index, 1.5): the buffer is a local array, as nvcc makes it.
std::string call(const std::string& format) {
  return ".local .align 8 .b8 buffer[16];\n"
         "mov.u64 %rd3, " +
         format +
         ";\n"
         R"(
mov.u64 %rd5, buffer;
cvta.local.u64 %rd6, %rd5;
st.local.u32 [%rd5], %r1;
mov.u64 %rd7, 0x3ff8000000000000;
st.local.u64 [%rd5+8], %rd7;
{ .param .b64 f; .param .b64 a; .param .b32 r;
st.param.b64 [f], %rd3;
st.param.b64 [a], %rd6;
call.uni (r), vprintf, (f, a);
ld.param.b32 %r2, [r];
}
st.global.u32 [%rd2], %r2;
)";
}

const std::string declaration =
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n";

struct Outcome {
  std::vector<std::string> printed;
  std::vector<std::uint32_t> returned;
};

Outcome run(const std::string& body, const std::string& variables, std::uint32_t threads,
            bool lowered) {
  IsaBench bench(kernel_text(body, declaration + variables), lowered);
  const std::uint64_t out = bench.buffer(std::vector<std::uint32_t>(threads));
  bench.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  return {bench.printed, bench.values<std::uint32_t>(out, threads)};
}

TEST_P(Printing, TheLanesOfAWarpPrintTogetherInTheirOrder) {
  const Outcome result =
      run(call("format") + "ret;", text_variable("format", "%d: %.1f\n"), 3, GetParam());
  EXPECT_EQ(result.printed, std::vector<std::string>{"0: 1.5\n1: 1.5\n2: 1.5\n"});
}

TEST_P(Printing, EachWarpPrintsItsOwn) {
  const Outcome result =
      run(call("format") + "ret;", text_variable("format", "%d "), 64, GetParam());
  std::string first, second;
  for (int i = 0; i < 32; ++i) first += std::to_string(i) + " ";
  for (int i = 32; i < 64; ++i) second += std::to_string(i) + " ";
  EXPECT_EQ(std::set<std::string>(result.printed.begin(), result.printed.end()),
            (std::set<std::string>{first, second}));
}

TEST_P(Printing, PrintfReturnsTheNumberOfArguments) {
  const Outcome two = run(call("format") + "ret;", text_variable("format", "%d %f"), 2, GetParam());
  EXPECT_EQ(two.returned, (std::vector<std::uint32_t>{2, 2}));
  const Outcome none = run(call("format") + "ret;", text_variable("format", "x"), 2, GetParam());
  EXPECT_EQ(none.returned, (std::vector<std::uint32_t>{0, 0}));
}

TEST_P(Printing, ANullFormatPrintsNothingAndReturnsMinusOne) {
  const Outcome result = run(call("0") + "ret;", "", 1, GetParam());
  EXPECT_EQ(result.printed, std::vector<std::string>{});
  EXPECT_EQ(result.returned, std::vector<std::uint32_t>{0xffffffff});
}

TEST_P(Printing, LanesWithDifferentFormatsPrintTogether) {
  const std::string variables = text_variable("even", "%d even ") + text_variable("odd", "odd ");
  const std::string choose =
      "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 0;\nmov.u64 %rd8, even;\nmov.u64 %rd9, odd;\n"
      "selp.b64 %rd10, %rd8, %rd9, %p1;\n";
  const Outcome result = run(choose + call("%rd10") + "ret;", variables, 4, GetParam());
  EXPECT_EQ(result.printed, std::vector<std::string>{"0 even odd 2 even odd "});
  EXPECT_EQ(result.returned, (std::vector<std::uint32_t>{1, 0, 1, 0}));
}

TEST_P(Printing, LanesOfTwoPathsPrintApart) {
  const std::string body =
      "setp.lt.u32 %p1, %r1, 2;\n@%p1 bra skip;\n" + call("format") + "skip:\nret;";
  const Outcome result = run(body, text_variable("format", "%d;"), 4, GetParam());
  EXPECT_EQ(result.printed, std::vector<std::string>{"2;3;"});
}

TEST_P(Printing, PrintfInALoopPrintsEachTime) {
  const std::string body = "mov.u32 %r5, 0;\nagain:\n" + call("format") +
                           "add.u32 %r1, %r1, 10;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, "
                           "3;\n@%p1 bra again;\nret;";
  const Outcome result = run(body, text_variable("format", "%d\n"), 1, GetParam());
  EXPECT_EQ(result.printed, (std::vector<std::string>{"0\n", "10\n", "20\n"}));
}

TEST_P(Printing, AFormatThatIsNoLiteralIsAnErrorOfItsThread) {
  try {
    run(call("0x1234") + "ret;", "", 1, GetParam());
    ADD_FAILURE() << "printed";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "test.ptx:4: kernel k, block (0, 0, 0), thread (0, 0, 0): printf of the format at "
              "0x1234, which is no string literal - formats are string literals of the module");
  }
}

}  // namespace
}  // namespace lockstep::isa::printing_test
