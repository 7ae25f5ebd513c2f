/// Products of warp groups in an SM: when they are complete, and what may come between.
/// Source: modern-isa.md, sections 4.1 and 5.7.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/isa/matrix/shared_operand.hpp"
#include "models/sm/blocks/spare_registers.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::warpgroup_unit_test {
namespace {

const std::string declarations = ".shared .align 1024 .b8 room[32768];\n.reg .b32 %d<128>;\n";

std::string list(unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}%d{}", i == 0 ? "" : ", ", i);
  return text + "}";
}
std::string zeros(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += fmt::format("mov.b32 %d{}, 0;\n", i);
  return text;
}

/// A product of n columns of f16, whose operands begin at 0 and 16 KiB; `a`: registers of A.
std::string product(unsigned n, const std::string& a = "") {
  return fmt::format(
      "wgmma.mma_async.sync.aligned.m64n{}k16.f32.f16.f16 {}, {}, %rd11, 1, 1, 1{};\n", n,
      list(n / 2), a.empty() ? "%rd10" : a, a.empty() ? ", 0, 0" : ", 0");
}
const std::string commit = "wgmma.commit_group.sync.aligned;\n";
std::string wait(unsigned newest) {
  return fmt::format("wgmma.wait_group.sync.aligned {};\n", newest);
}
/// Every thread writes its place of room, all wait, and get the descriptors.
std::string begin(unsigned n) {
  isa::SharedOperand a, b;
  a.leading = 1024;
  a.stride = b.stride = 128;
  b.leading = n * 16;
  b.start = 16384;
  return fmt::format(R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, room;
  shl.b32 %r3, %r1, 6;
  add.u32 %r4, %r2, %r3;
  st.shared.b32 [%r4], 0x3c003c00;
  add.u32 %r4, %r4, 16384;
  st.shared.b32 [%r4], 0x3c003c00;
  bar.sync 0;
  mov.b64 %rd10, {};
  mov.b64 %rd11, {};
)",
                     isa::descriptor_of(a), isa::descriptor_of(b)) +
         zeros(n / 2);
}
/// Adds up D and stores the sum of each thread.
std::string finish(unsigned n) {
  std::string text = "mov.b32 %f0, 0f00000000;\n";
  for (unsigned i = 0; i < n / 2; ++i)
    text += fmt::format("mov.b32 %f1, %d{};\nadd.f32 %f0, %f0, %f1;\n", i);
  return text + R"(
  shl.b32 %r5, %r1, 2;
  cvt.u64.u32 %rd3, %r5;
  add.u64 %rd3, %rd0, %rd3;
  st.global.f32 [%rd3], %f0;
)";
}

IdealMachine::Options hopper() {
  return {};
}

isa::Module module_of(const std::string& body) {
  return kernel_of(body, declarations, "", isa::MatrixArithmetic::hopper);
}

void start(IdealMachine& machine, std::uint32_t threads = 128) {
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {machine.address(16), machine.address(0), 0});
}

std::int64_t end_of(const std::string& body, const IdealMachine::Options& options = hopper(),
                    std::uint32_t threads = 128) {
  IdealMachine machine(module_of(body), options);
  start(machine, threads);
  // Windows of one cycle: the end is exact.
  return machine.run(1, 100'000);
}

/// Cycles that each of many products takes.
double interval(unsigned n, const std::string& a = "", const IdealMachine::Options& options = {},
                std::uint32_t threads = 128) {
  const auto end = [&](unsigned count) {
    return end_of(begin(n) + times(count, product(n, a)) + commit + wait(0), options, threads);
  };
  return static_cast<double>(end(18) - end(8)) / 10;
}

TEST(WarpgroupUnit, TakesAsLongAsColumnsOrOperandsDo) {
  EXPECT_DOUBLE_EQ(interval(8), 18);
  EXPECT_DOUBLE_EQ(interval(16), 20);
  EXPECT_DOUBLE_EQ(interval(32), 24);
  EXPECT_DOUBLE_EQ(interval(64), 32);
  EXPECT_DOUBLE_EQ(interval(128), 64);
  EXPECT_DOUBLE_EQ(interval(256), 128);
  const std::string registers = "{%r10, %r11, %r12, %r13}";
  EXPECT_DOUBLE_EQ(interval(16, registers), 22);
  EXPECT_DOUBLE_EQ(interval(32, registers), 26);
  EXPECT_DOUBLE_EQ(interval(128, registers), 64);
}

TEST(WarpgroupUnit, AProductIsCompleteACycleLaterForEachRegisterOfItsResult) {
  IdealMachine::Options one_at_a_time;
  one_at_a_time.parameters.wgmma.queue = 1;
  const double least = interval(8, "", one_at_a_time);
  EXPECT_GE(least, 49 + 4);
  EXPECT_LE(least, 49 + 4 + 6) << "the next one issues soon";
  EXPECT_DOUBLE_EQ(interval(64, "", one_at_a_time) - least, 32 - 4);
  EXPECT_DOUBLE_EQ(interval(256, "", one_at_a_time) - least, 128 - 4);
}

TEST(WarpgroupUnit, AWaitIsForAllButTheNewestGroups) {
  const auto end = [](unsigned newest) {
    const std::string groups = times(4, product(256) + commit);
    // What comes behind the wait takes longer than the products that it does not wait for.
    return end_of(begin(256) + groups + wait(newest) + "nanosleep.u32 2000;\n");
  };
  EXPECT_EQ(end(0) - end(1), 128);
  EXPECT_EQ(end(1) - end(2), 128);
}

TEST(WarpgroupUnit, IsSharedByTheWarpGroupsOfAnSm) {
  EXPECT_DOUBLE_EQ(interval(256, "", hopper(), 256), 2 * 128);
  EXPECT_DOUBLE_EQ(interval(64, "", hopper(), 256), 2 * 32);
}

TEST(WarpgroupUnit, LetsAWarpIssueAsManyAsTheQueueHolds) {
  const auto end = [](std::uint32_t queue) {
    IdealMachine::Options options;
    options.parameters.wgmma.queue = queue;
    return end_of(begin(8) + times(4, product(8)) + "nanosleep.u32 1000;\n", options);
  };
  EXPECT_GT(end(1), end(4) + 100) << "each one waits for the one before";
}

TEST(WarpgroupUnit, AddsUpWhatSharedMemoryHolds) {
  IdealMachine machine(module_of(begin(64) + times(3, product(64)) + commit + wait(0) + finish(64)),
                       hopper());
  start(machine);
  machine.run();
  bool any = false;
  for (unsigned thread = 0; thread < 128; ++thread) any |= machine.get<float>(16 + 4 * thread) > 0;
  EXPECT_TRUE(any);
}

TEST(WarpgroupUnit, GoesThroughACheckpointAtAnyCycle) {
  const isa::Module module =
      module_of(begin(64) + times(9, product(64) + commit) + wait(1) + wait(0) + finish(64));
  IdealMachine whole(module, hopper());
  start(whole);
  const std::int64_t end = whole.run();
  for (std::int64_t stop = 10; stop < end; stop += 7) {
    IdealMachine machine(module, hopper());
    start(machine);
    machine.run_to(stop);
    machine.save_and_restore();
    ASSERT_EQ(machine.run(), end) << stop;
    ASSERT_EQ(machine.memory(), whole.memory()) << stop;
  }
}

TEST(SpareRegisters, AreThoseThatWarpsGaveBack) {
  SpareRegisters registers;
  EXPECT_FALSE(registers.changed());
  EXPECT_FALSE(registers.take(1, 232, 168, 12)) << "nobody has given any back";
  registers.give(0, 40, 168, 12);
  EXPECT_EQ(registers.spare(), 128u);
  EXPECT_TRUE(registers.take(1, 232, 168, 12));
  EXPECT_TRUE(registers.take(2, 232, 168, 12));
  EXPECT_EQ(registers.spare(), 0u);
  EXPECT_FALSE(registers.take(3, 176, 168, 12));
  EXPECT_TRUE(registers.take(3, 160, 168, 12)) << "it has more than that";
  registers.give(1, 240, 168, 12);
  EXPECT_EQ(registers.spare(), 0u) << "it has less than that";
  EXPECT_EQ(SpareRegisters::most(168, 3, 24), 168u + 2 * 144);
}

}  // namespace
}  // namespace lockstep::warpgroup_unit_test
