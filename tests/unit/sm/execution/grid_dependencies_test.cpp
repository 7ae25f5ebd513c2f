/// griddepcontrol in an SM: who is told, who waits, and what a wait makes visible.
/// Source: PTX ISA, "griddepcontrol".
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::grid_dependencies_test {
namespace {

constexpr std::uint64_t in = 0x10000;

/// The first word of `in` as it is before and behind the wait.
constexpr const char* two_looks = R"(
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd0], %r1;
  griddepcontrol.wait;
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd0+4], %r2;)";

void launch(IdealMachine& machine, std::uint32_t threads = 32) {
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {machine.address(0), machine.address(in), 7});
}

std::size_t times_told(const IdealMachine& machine, const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(machine.told.begin(), machine.told.end(),
                    [&](const auto& told) { return told.text == text; }));
}

TEST(GridDependencies, AWaitEndsWhenTheSmHearsThatTheGridBeforeHasEnded) {
  const auto ends = [](std::int64_t over) {
    IdealMachine machine(kernel_of("griddepcontrol.wait;"), {});
    machine.primary = 5;
    launch(machine);
    machine.post(0, over, MessageKind::primary_is_over, GridReference{0, 0});
    return machine.run(1, 10'000);
  };
  const std::int64_t first = ends(500);
  EXPECT_GE(first, 500);
  EXPECT_LE(first, 520);
  EXPECT_EQ(ends(501), first + 1);
  EXPECT_EQ(ends(900), first + 400);
}

TEST(GridDependencies, WithoutAGridBeforeNobodyWaits) {
  const auto cycles = [](const std::string& body) {
    IdealMachine machine(kernel_of(body), {});
    launch(machine);
    return machine.run(1, 10'000);
  };
  const std::int64_t without = cycles("");
  EXPECT_LE(cycles("griddepcontrol.wait;"), without + 10);
  EXPECT_LE(cycles("griddepcontrol.launch_dependents;"), without + 10);
}

TEST(GridDependencies, LanesThatTheGuardHoldsBackDoNotWait) {
  IdealMachine machine(kernel_of("setp.eq.u32 %p1, %r0, 0;\n@%p1 griddepcontrol.wait;"), {});
  machine.primary = 5;
  launch(machine);
  EXPECT_LT(machine.run(1, 10'000), 500);
}

TEST(GridDependencies, ABlockLetsTheNextGridGoOnce) {
  IdealMachine machine(kernel_of(R"(
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 70;
    @%p1 griddepcontrol.launch_dependents;
    griddepcontrol.launch_dependents;)"),
                       {});
  launch(machine, 128);
  machine.run();
  EXPECT_EQ(times_told(machine, "lets go 0"), 1U);
}

TEST(GridDependencies, NoLaneLetsGoWhatItsGuardHoldsBack) {
  IdealMachine machine(
      kernel_of("setp.eq.u32 %p1, %r0, 0;\n@%p1 griddepcontrol.launch_dependents;"), {});
  launch(machine);
  machine.run();
  EXPECT_EQ(times_told(machine, "lets go 0"), 0U);
}

TEST(GridDependencies, WhatWasLoadedBeforeAWaitIsLoadedAgainBehindIt) {
  IdealMachine machine(kernel_of(two_looks), {});
  machine.put<std::uint32_t>(in, 1);
  machine.primary = 5;
  launch(machine);
  machine.run_to(2000);
  machine.put<std::uint32_t>(in, 2);
  machine.post(0, 2100, MessageKind::primary_is_over, GridReference{0, 0});
  machine.run();
  EXPECT_EQ(machine.get<std::uint32_t>(0), 1U);
  EXPECT_EQ(machine.get<std::uint32_t>(4), 2U) << "the line was in the L1";
}

TEST(GridDependencies, WaitsAreNamedInReports) {
  IdealMachine machine(kernel_of("griddepcontrol.wait;"), {});
  machine.primary = 5;
  launch(machine, 64);
  machine.run_to(1000);
  EXPECT_NE(
      machine.sm().waiting_for().find("2 warps wait for the end of grid 4 (griddepcontrol.wait)"),
      std::string::npos)
      << machine.sm().waiting_for();
}

TEST(GridDependencies, GoThroughACheckpointAtAnyCycle) {
  const auto ends = [](std::int64_t saved_at) {
    IdealMachine machine(kernel_of(std::string("griddepcontrol.launch_dependents;") + two_looks +
                                   "griddepcontrol.launch_dependents;"),
                         {});
    machine.primary = 5;
    launch(machine);
    machine.post(0, 700, MessageKind::primary_is_over, GridReference{0, 0});
    if (saved_at > 0) {
      machine.run_to(saved_at);
      machine.save_and_restore();
    }
    const std::int64_t end = machine.run(1, 10'000);
    EXPECT_EQ(times_told(machine, "lets go 0"), 1U) << saved_at;
    return end;
  };
  const std::int64_t expected = ends(0);
  for (std::int64_t at = 2; at < expected; at += 13) EXPECT_EQ(ends(at), expected) << at;
}

/// Saved and restored in between, the block says it once.
TEST(GridDependencies, ABlockThatLeavesItsSmLetsGoOnce) {
  IdealMachine::Options options;
  options.exception_scheme = "replay-queue";
  options.block_switching = "{name: on-fault, extra_blocks: 8}";  // for the room; nothing faults
  options.ends_grids = false;
  IdealMachine machine(
      kernel_of("griddepcontrol.launch_dependents;\n" + times(400, "add.u32 %r1, %r1, %r0;\n") +
                "griddepcontrol.launch_dependents;"),
      options);
  launch(machine);
  machine.run_to(300);
  machine.post(0, 300, MessageKind::stop_grid, GridStop{0, Technique::save, {}});
  machine.run_to(2300);
  machine.post(0, 2300, MessageKind::resume_grid, GridReference{0, 0});
  machine.run();
  EXPECT_EQ(times_told(machine, "saved 0"), 1U);
  EXPECT_EQ(times_told(machine, "lets go 0"), 1U);
}

TEST(GridDependencies, EverySchemeOfExceptionsWaitsAsLong) {
  for (const std::string scheme : {"stall-on-fault", "replay-queue", "operand-log",
                                   "warp-disable-commit", "warp-disable-last-check"}) {
    IdealMachine::Options options;
    options.exception_scheme = scheme;
    IdealMachine machine(kernel_of(two_looks), options);
    machine.put<std::uint32_t>(in, 3);
    machine.primary = 5;
    launch(machine);
    machine.post(0, 3000, MessageKind::primary_is_over, GridReference{0, 0});
    EXPECT_GE(machine.run(1, 10'000), 3000) << scheme;
    EXPECT_EQ(machine.get<std::uint32_t>(4), 3U);
  }
}

}  // namespace
}  // namespace lockstep::grid_dependencies_test
