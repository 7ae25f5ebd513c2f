/// Asynchronous copies in an SM: what they bring, what a warp waits for, and what may come between.
/// Source: PTX ISA 8.x, "cp.async"; modern-isa.md, sections 3.1 and 5.3.
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::async_copies_test {
namespace {

constexpr std::uint64_t in = 0x10000;

/// Thread t copies `bytes` from in + 16 t to room + 16 t, waits, and stores what thread 31 - t of
/// its warp has.
std::string mirrored(const std::string& copy) {
  return R"(
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 4;
  cvt.u64.u32 %rd2, %r2;
  add.u64 %rd3, %rd1, %rd2;
  add.u64 %rd4, %rd0, %rd2;
  mov.u32 %r3, room;
  add.u32 %r4, %r3, %r2;
  st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};
)" + copy +
         R"(
  cp.async.wait_all;
  bar.sync 0;
  xor.b32 %r5, %r1, 31;
  shl.b32 %r6, %r5, 4;
  add.u32 %r7, %r3, %r6;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r7];
  st.global.v4.u32 [%rd4], {%r10, %r11, %r12, %r13};)";
}
constexpr const char* room = ".shared .align 16 .b8 room[2048];\n";

std::uint32_t word(std::uint32_t thread, std::uint32_t w) {
  return 1'000'000 + 4 * thread + w;
}

void start(IdealMachine& machine) {
  for (std::uint32_t t = 0; t < 128; ++t)
    for (std::uint32_t w = 0; w < 4; ++w)
      machine.put<std::uint32_t>(in + 16 * t + 4 * w, word(t, w));
  machine.launch("k", {1, 1, 1}, {128, 1, 1}, {machine.address(0), machine.address(in), 7});
}

/// Runs it with 128 threads; returns what thread t of a warp has got, word w.
std::vector<std::uint32_t> results(IdealMachine& machine) {
  start(machine);
  machine.run();
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < 512; ++i) result.push_back(machine.get<std::uint32_t>(4 * i));
  return result;
}

TEST(AsyncCopies, BringEveryLanesBytes) {
  for (const std::string kind : {"ca", "cg"}) {
    IdealMachine machine(
        kernel_of(mirrored("cp.async." + kind + ".shared.global [%r4], [%rd3], 16;\n"), room), {});
    const auto got = results(machine);
    for (std::uint32_t t = 0; t < 128; ++t)
      for (std::uint32_t w = 0; w < 4; ++w) ASSERT_EQ(got[4 * t + w], word(t ^ 31, w)) << t;
  }
}

TEST(AsyncCopies, LeaveWhatLiesBesideThem) {
  IdealMachine machine(
      kernel_of(mirrored("cp.async.ca.shared.global [%r4+8], [%rd3+4], 4;\n"), room), {});
  const auto got = results(machine);
  for (std::uint32_t t = 0; t < 128; ++t) {
    EXPECT_EQ(got[4 * t + 1], t ^ 31);
    EXPECT_EQ(got[4 * t + 2], word(t ^ 31, 1));
    EXPECT_EQ(got[4 * t + 3], t ^ 31);
  }
}

TEST(AsyncCopies, FillWithZerosWhatTheyDoNotRead) {
  IdealMachine machine(kernel_of(mirrored(R"(
    and.b32 %r8, %r1, 15;
    cp.async.cg.shared.global [%r4], [%rd3], 16, %r8;
)"),
                                 room),
                       {});
  const auto got = results(machine);
  for (std::uint32_t t = 0; t < 128; ++t) {
    const std::uint32_t of = t ^ 31, bytes = of & 15;
    for (std::uint32_t w = 0; w < 4; ++w) {
      const std::uint32_t whole = word(of, w);
      const std::uint32_t read = bytes <= 4 * w ? 0 : std::min(bytes - 4 * w, 4u);
      const std::uint32_t expected = read == 0   ? 0
                                     : read == 4 ? whole
                                                 : whole & ((1u << 8 * read) - 1);
      ASSERT_EQ(got[4 * t + w], expected) << of << " of " << bytes << " bytes, word " << w;
    }
  }
}

TEST(AsyncCopies, ThatReadNothingAskForNothing) {
  IdealMachine machine(
      kernel_of(mirrored("cp.async.cg.shared.global [%r4], [%rd9], 16, 0;\n"), room), {});
  machine.record = true;
  const auto got = results(machine);
  for (const std::uint32_t value : got) ASSERT_EQ(value, 0u);
  for (const auto& seen : machine.seen)
    EXPECT_NE(seen.request.operation, MemoryOperation::load) << "%rd9 is null";
}

TEST(AsyncCopies, DoNotHoldTheirWarp) {
  const auto cycles = [](const std::string& wait) {
    IdealMachine machine(kernel_of(R"(
      mov.u32 %r4, room;
      cp.async.cg.shared.global [%r4], [%rd1], 16;
      cp.async.commit_group;
)" + times(50, "add.u32 %r1, %r1, %r0;\n") +
                                       wait,
                                   room),
                         {});
    machine.launch("k", {1, 1, 1}, {32, 1, 1}, {machine.address(0), machine.address(in), 7});
    return machine.run(1, 10'000);
  };
  const std::string additions = times(50, "add.u32 %r1, %r1, %r0;\n");
  const std::int64_t beside = cycles("cp.async.wait_group 0;\n" + additions);
  const std::int64_t behind = cycles(additions + "cp.async.wait_group 0;\n");
  EXPECT_GE(beside, behind) << "50 additions are 200 cycles, the copy takes as long";
  const std::int64_t not_waited = cycles("cp.async.wait_group 1;\n" + additions);
  EXPECT_LE(not_waited, behind + 1);
}

TEST(AsyncCopies, AWaitIsCountedAsItsOwnCause) {
  IdealMachine machine(kernel_of(mirrored("cp.async.cg.shared.global [%r4], [%rd3], 16;\n"), room),
                       {});
  results(machine);
  const auto& stalls = machine.statistics().tenant[0].stalls;
  EXPECT_GT(stalls[static_cast<std::size_t>(StallCause::async_copy)].value(), 100u);
}

TEST(AsyncCopies, GoThroughACheckpointAtAnyCycle) {
  const isa::Module module =
      kernel_of(mirrored("cp.async.ca.shared.global [%r4], [%rd3], 16;\n"), room);
  IdealMachine whole(module, {});
  start(whole);
  const std::int64_t end = whole.run();
  for (const std::int64_t stop : {20, 40, 60, 120, 180, 240, 260}) {
    IdealMachine machine(module, {});
    start(machine);
    machine.run_to(stop);
    machine.save_and_restore();
    EXPECT_EQ(machine.run(), end) << stop;
    EXPECT_EQ(machine.memory(), whole.memory()) << stop;
  }
}

}  // namespace
}  // namespace lockstep::async_copies_test
