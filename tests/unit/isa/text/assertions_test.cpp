/// assert() in a kernel: a call of __assertfail.
#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"
#include "tests/unit/isa/texts.hpp"

namespace lockstep::isa::assertions_test {
namespace {

LOCKSTEP_BOTH_FORMS(Assertions);

/// A call as nvcc makes it of assert(): line 12 of the file whose name `file` points to.
std::string failing(const std::string& file) {
  return R"(
mov.u64 %rd3, expression;
cvta.global.u64 %rd4, %rd3;
)" + file +
         R"(
mov.u64 %rd7, function;
cvta.const.u64 %rd8, %rd7;
)" + assertion_call("%rd4", "%rd6", "%rd8");
}

std::string message_of(const std::string& body, std::uint32_t threads, bool lowered) {
  const std::string text =
      kernel_text(body, assertion_declaration + text_variable("expression", "i < 7") +
                            text_variable("file", "dir/a.cu") + ".global .align 1 .b8 plain[8];\n" +
                            text_variable("function", "void k(int)", "const"));
  try {
    run_block(text, threads, lowered);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

const std::string file_by_name = "mov.u64 %rd5, file+4;\ncvta.global.u64 %rd6, %rd5;\n";
const std::string only_from_7_on = "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra good;\n";

TEST_P(Assertions, TheFirstThreadThatFailsSaysWhatWhereAndIn) {
  const std::string message =
      message_of(only_from_7_on + failing(file_by_name) + "good:\nret;", 64, GetParam());
  EXPECT_NE(message.find("kernel k, block (0, 0, 0), thread (7, 0, 0): assertion `i < 7` failed at "
                         "a.cu:12, void k(int)"),
            std::string::npos)
      << message;
}

TEST_P(Assertions, TheMessageNamesTheLineOfTheCall) {
  const std::string message = message_of(failing(file_by_name) + "ret;", 1, GetParam());
  EXPECT_TRUE(message.starts_with("test.ptx:35: kernel k")) << message;
}

TEST_P(Assertions, ThoseThatHoldCostNothingButTheirBranch) {
  EXPECT_EQ(message_of(only_from_7_on + failing(file_by_name) + "good:\nret;", 7, GetParam()), "");
}

TEST_P(Assertions, APointerToNoTextIsPrintedItself) {
  const std::string nowhere = message_of(failing("mov.u64 %rd6, 0x1234;\n"), 1, GetParam());
  EXPECT_NE(nowhere.find("failed at <0x1234>:12, void k(int)"), std::string::npos) << nowhere;
  const std::string plain = message_of(failing("mov.u64 %rd6, plain;\n"), 1, GetParam());
  EXPECT_NE(plain.find("failed at <0x700000200>:12, void k(int)"), std::string::npos) << plain;
}

/// The destructor of an object on the heap, which every class with a virtual one has code for.
TEST_P(Assertions, FreeEndsTheKernelOnlyWhenItGetsAPointer) {
  const auto message_of_free_in = [&](const std::string& thread) {
    try {
      run_block(kernel_text("setp.eq.u32 %p1, %r1, " + thread + R"(;
selp.b64 %rd3, %rd1, 0, %p1;
{ .param .b64 p;
st.param.b64 [p], %rd3;
call.uni free, (p);
}
ret;)",
                            ".extern .func free(.param .b64 p);\n"),
                8, GetParam());
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message_of_free_in("8"), "");
  EXPECT_NE(
      message_of_free_in("5").find("thread (5, 0, 0): free got a pointer that malloc did not give"),
      std::string::npos);
}

}  // namespace
}  // namespace lockstep::isa::assertions_test
