/// printf on the machine: what the host hears.
#include <gtest/gtest.h>

#include "tests/unit/isa/texts.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::print_test {
namespace {

const std::string variables =
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" +
    isa::text_variable("format", "%d of %d\n", "const");

/// printf(format, thread's index, n); stores what it returns.
const std::string body = R"(
  mov.u32 %r1, %tid.x;
  mov.u64 %rd2, format;
  mov.u64 %rd3, buffer;
  cvta.local.u64 %rd4, %rd3;
  st.local.v2.u32 [%rd3], {%r1, %r0};
  { .param .b64 f; .param .b64 a; .param .b32 r;
  st.param.b64 [f], %rd2;
  st.param.b64 [a], %rd4;
  call.uni (r), vprintf, (f, a);
  ld.param.b32 %r2, [r];
  }
  mul.wide.u32 %rd5, %r1, 4;
  add.u64 %rd6, %rd0, %rd5;
  st.global.u32 [%rd6], %r2;
)";

struct Outcome {
  std::vector<std::string> told;
  std::int64_t end = 0;
  std::uint32_t returned = 0;
};

Outcome run(std::int64_t window, std::uint32_t threads) {
  IdealMachine machine(kernel_of(body, ".local .align 8 .b8 buffer[8];", variables), {});
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {IdealMachine::address(0), 0, threads});
  Outcome outcome;
  outcome.end = machine.run(window);
  for (const IdealMachine::Told& told : machine.told) outcome.told.push_back(told.text);
  outcome.returned = machine.get<std::uint32_t>(4 * (threads - 1));
  return outcome;
}

TEST(SmPrint, TheHostGetsTheTextOfAWarp) {
  const Outcome outcome = run(90, 3);
  EXPECT_EQ(outcome.told, std::vector<std::string>{"printed 0 of 3\n1 of 3\n2 of 3\n"});
  EXPECT_EQ(outcome.returned, 2u);
}

TEST(SmPrint, EachWarpSendsItsOwnText) {
  EXPECT_EQ(run(90, 256).told.size(), 8u);
}

TEST(SmPrint, AWindowCutAnywhereChangesNothing) {
  const Outcome whole = run(90, 128);
  for (const std::int64_t window : {1, 7, 46}) {
    const Outcome cut = run(window, 128);
    EXPECT_EQ(cut.told, whole.told) << window;
    EXPECT_EQ(cut.end, whole.end) << window;
  }
}

TEST(SmPrint, RestoredAmidAPrintfItPrintsTheSame) {
  const Outcome whole = run(90, 64);
  for (std::int64_t at = 100; at < whole.end; at += 37) {
    IdealMachine machine(kernel_of(body, ".local .align 8 .b8 buffer[8];", variables), {});
    machine.launch("k", {1, 1, 1}, {64, 1, 1}, {IdealMachine::address(0), 0, 64});
    machine.run_to(at);
    machine.save_and_restore();
    machine.run();
    std::vector<std::string> told;
    for (const IdealMachine::Told& one : machine.told) told.push_back(one.text);
    EXPECT_EQ(told, whole.told) << at;
  }
}

}  // namespace
}  // namespace lockstep::print_test
