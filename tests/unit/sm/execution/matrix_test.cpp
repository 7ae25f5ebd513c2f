/// Matrix instructions on the machine: values, time and mistakes.
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::matrix_test {
namespace {

constexpr const char* tile = ".shared .align 16 .b8 tile[4096];\n";

/// A machine that has run one warp of this body.
void run(IdealMachine& machine, std::uint32_t threads = 32) {
  machine.launch("k", {1, 1, 1}, {threads, 1, 1},
                 {IdealMachine::address(0), IdealMachine::address(0), 0});
  machine.run_to(20000);
}
/// Conflict cycles of an ldmatrix whose lanes' rows are `stride` bytes apart.
std::uint64_t conflicts(unsigned stride, const char* matrices, const std::string& registers) {
  IdealMachine machine(
      kernel_of("mov.u32 %r3, tile;\nmov.u32 %r1, %laneid;\nmad.lo.u32 %r2, %r1, " +
                    std::to_string(stride) + ", %r3;\nldmatrix.sync.aligned.m8n8." + matrices +
                    ".shared.b16 " + registers + ", [%r2];\n",
                tile),
      {});
  run(machine);
  EXPECT_EQ(machine.statistics().tenant[0].shared_accesses.value(), 1u);
  return machine.statistics().tenant[0].shared_conflict_cycles.value();
}

TEST(SmMatrices, RowsInDifferentBanksDoNotConflict) {
  EXPECT_EQ(conflicts(16, "x4", "{%r4, %r5, %r6, %r7}"), 0u);
  EXPECT_EQ(conflicts(80, "x4", "{%r4, %r5, %r6, %r7}"), 0u);
  EXPECT_EQ(conflicts(128, "x1", "{%r4}"), 7u);
  EXPECT_EQ(conflicts(64, "x2", "{%r4, %r5}"), 2u * 3);
  EXPECT_EQ(conflicts(0, "x4", "{%r4, %r5, %r6, %r7}"), 0u) << "one row for all";
}

std::string text_of(const std::string& body, std::uint32_t threads = 32) {
  IdealMachine machine(kernel_of(body, tile), {});
  run(machine, threads);
  return machine.told.empty() ? "" : machine.told[0].text;
}
constexpr const char* product =
    "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r10, "
    "%r11}, {%r4, %r5, %r6, %r7};\n";

TEST(SmMatrices, ThatNotAllLanesExecuteEndTheTenant) {
  EXPECT_EQ(text_of(product), "");
  const std::string few = text_of(product, 20);
  EXPECT_NE(few.find("mma needs all lanes of the warp, and lanes 20-31 are not there"),
            std::string::npos)
      << few;
  EXPECT_NE(few.find("violation test.ptx:"), std::string::npos) << few;
  const std::string guarded =
      text_of("mov.u32 %r1, %laneid;\nsetp.ne.u32 %p1, %r1, 7;\n@%p1 " + std::string(product));
  EXPECT_NE(guarded.find("lane 7 is not there"), std::string::npos) << guarded;
  const std::string load = text_of(
      "mov.u32 %r1, %laneid;\nsetp.ne.u32 %p1, %r1, 7;\nmov.u32 %r2, tile;\n@%p1 "
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];\n");
  EXPECT_NE(load.find("ldmatrix needs all lanes"), std::string::npos) << load;
}
/// Some of the lanes might end, so that no later instruction is one that all come by.
constexpr const char* parted = R"(
  mov.u32 %r1, %laneid;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra meet;
  setp.gt.u32 %p2, %r1, 40;
  @%p2 ret;
meet:
)";

TEST(SmMatrices, OfLanesThatHavePartedAreMovedTogether) {
  const std::string moves =
      "mov.u32 %r2, tile;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];\n";
  EXPECT_EQ(text_of(parted + moves), "");
  EXPECT_NE(text_of(std::string(parted) + "@%p1 ret;\n" + moves).find("lanes 0-15 are not there"),
            std::string::npos);
}

TEST(SmMatrices, WithRowsThatAreNoneEndTheTenant) {
  const auto load = [](const char* address) {
    return text_of("mov.u32 %r5, tile;\nmov.u32 %r2, " + std::string(address) +
                   ";\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];\n");
  };
  EXPECT_EQ(load("4080"), "");
  EXPECT_NE(load("8").find("misaligned access of 16 bytes at 0x8"), std::string::npos);
  EXPECT_NE(load("4096").find("outside of the block's"), std::string::npos);
}

/// Cycles that the kernel of `count` such products takes.
std::int64_t cycles(unsigned count, bool dependent) {
  std::string body;
  for (unsigned i = 0; i < count; ++i) {
    const std::string d = dependent ? "4" : std::to_string(20 + 4 * (i % 8));
    const unsigned n = std::stoi(d);
    const std::string list = "{%r" + std::to_string(n) + ", %r" + std::to_string(n + 1) + ", %r" +
                             std::to_string(n + 2) + ", %r" + std::to_string(n + 3) + "}";
    body += "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + list +
            ", {%r8, %r9, %r10, %r11}, {%r12, %r13}, " + list + ";\n";
  }
  IdealMachine machine(kernel_of(body), {});
  machine.launch("k", {1, 1, 1}, {32, 1, 1},
                 {IdealMachine::address(0), IdealMachine::address(0), 0});
  return machine.run(1);
}
TEST(SmMatrices, TakeTheLatencyWhereOneNeedsTheOtherAndTheIntervalWhereNot) {
  const SmParameters parameters = IdealMachine::Options{}.parameters;
  const std::int64_t latency =
      parameters.latency[isa::LatencyClass::mma_f16_k16].count() + parameters.operand_read.count();
  const std::int64_t interval = parameters.interval[isa::LatencyClass::mma_f16_k16].count();
  EXPECT_EQ(cycles(42, true) - cycles(2, true), 40 * latency);
  EXPECT_EQ(cycles(48, false) - cycles(8, false), 40 * interval);
}

}  // namespace
}  // namespace lockstep::matrix_test
