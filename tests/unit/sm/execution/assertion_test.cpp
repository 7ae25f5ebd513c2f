/// A failed assert() on the machine: the host hears of it as of a trap.
#include <gtest/gtest.h>

#include "tests/unit/isa/texts.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::assertion_test {
namespace {

const std::string variables = isa::assertion_declaration +
                              isa::text_variable("expression", "i != 40", "const") +
                              isa::text_variable("file", "a.cu", "const") +
                              isa::text_variable("function", "void k()", "const");

const std::string body = R"(
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 40;
  @%p1 bra good;
  mov.u64 %rd2, expression;
  mov.u64 %rd3, file;
  mov.u64 %rd4, function;
)" + isa::assertion_call("%rd2", "%rd3", "%rd4") +
                         R"(good:
)";

TEST(SmAssertion, TheHostHearsWhatFailedAndWhere) {
  IdealMachine machine(kernel_of(body, "", variables), {});
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {0, 0, 0});
  machine.run_to(2000);
  ASSERT_EQ(machine.told.size(), 1u);
  EXPECT_EQ(machine.told[0].text,
            "violation test.ptx:33|tenant alone, kernel k, block (0, 0, 0), thread (40, 0, 0): "
            "assertion `i != 40` failed at a.cu:12, void k()|"
            "look at what the program asserts there|");
}

}  // namespace
}  // namespace lockstep::assertion_test
