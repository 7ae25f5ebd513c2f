/// What the schemes cost when nothing faults, cycle by cycle: Figures 3, 4, 6 and 7 of paper 000
/// (virtual-memory-and-exceptions.md, section 2.7), and the operand log's shares (section 2.6).
#include <gtest/gtest.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::timeline_test {
namespace {

/// One instruction a cycle, arithmetic of one cycle, memory of seven with the last check in the
/// seventh: issued in cycle 2, A commits in cycle 11 and lets a dependent issue in cycle 12.
IdealMachine::Options figure_options(const std::string& scheme) {
  IdealMachine::Options options;
  options.exception_scheme = scheme;
  SmParameters& p = options.parameters;
  p.schedulers = 1;
  p.sub_cores = false;
  p.operand_read = Cycles{1};
  p.source_release = SourceRelease::operand_read;
  p.memory_interval = Cycles{1};
  p.latency[isa::LatencyClass::integer] = p.latency[isa::LatencyClass::move] = Cycles{3};
  p.interval[isa::LatencyClass::integer] = p.interval[isa::LatencyClass::move] = Cycles{1};
  p.port.injection_latency = Cycles{8};
  p.l1.hit_latency = Cycles{10};
  return options;
}

std::uint64_t issued(IdealMachine& machine) {
  const void* values =
      machine.sm().statistics(machine.clock().edge(Cycles{machine.cycle() + 1})).values;
  return static_cast<const SmStatistics*>(values)->tenant[0].warp_instructions.value();
}

/// The cycles in which a lone warp issues what follows its long sleep, the first of them in cycle
/// `first`.
std::vector<std::int64_t> issue_cycles(const std::string& warm_up, const std::string& body,
                                       const IdealMachine::Options& options, std::int64_t first,
                                       std::size_t count) {
  IdealMachine machine(kernel_of(warm_up + "nanosleep.u32 3000;\n" + body), options);
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, {machine.address(0), machine.address(4096), 5});
  std::vector<std::int64_t> cycles;
  std::int64_t last = 0;
  for (std::int64_t cycle = 1; cycle < 20'000 && cycles.size() < count; ++cycle) {
    const std::uint64_t before = issued(machine);
    machine.advance_to(cycle + 1);
    if (issued(machine) == before) continue;
    if (cycle - last > 2000 || !cycles.empty()) cycles.push_back(cycle);
    last = cycle;
  }
  const std::int64_t base = cycles.empty() ? 0 : cycles.front() - first;
  for (std::int64_t& cycle : cycles) cycle -= base;
  return cycles;
}

/// A: R3 = load R2; B: R9 = R9 - 4; C: R8 = load R4; D: R4 = R7 + 8.
std::vector<std::int64_t> figure(const std::string& scheme) {
  const std::string warm_up =
      "add.u64 %rd2, %rd1, 0;\nadd.u64 %rd4, %rd1, 256;\nadd.u64 %rd7, %rd1, 512;\n"
      "mov.u32 %r9, %laneid;\nld.global.u32 %r3, [%rd2];\nld.global.u32 %r8, [%rd4];\n"
      "add.u32 %r9, %r9, %r3;\nadd.u32 %r9, %r9, %r8;\n";
  const std::string body =
      "ld.global.u32 %r3, [%rd2];\nsub.u32 %r9, %r9, 4;\nld.global.u32 %r8, [%rd4];\n"
      "add.u64 %rd4, %rd7, 8;\n"
      "st.global.u32 [%rd0], %r3;\nst.global.u32 [%rd0+4], %r8;\nst.global.u32 [%rd0+8], %r9;\n"
      "st.global.u64 [%rd0+16], %rd4;\n";
  return issue_cycles(warm_up, body, figure_options(scheme), 2, 4);
}

using Cycles4 = std::vector<std::int64_t>;

TEST(ExceptionTimeline, TheBaselineStallsOnceForASourceThatIsBeingRead) {
  EXPECT_EQ(figure("stall-on-fault"), (Cycles4{2, 3, 4, 6}));
}

TEST(ExceptionTimeline, TheOperandLogIssuesAsTheBaselineDoes) {
  EXPECT_EQ(figure("operand-log"), (Cycles4{2, 3, 4, 6}));
}

TEST(ExceptionTimeline, TheReplayQueueKeepsASourceUntilTheLastCheck) {
  EXPECT_EQ(figure("replay-queue"), (Cycles4{2, 3, 4, 13}));
}

TEST(ExceptionTimeline, WarpDisableFetchesInTheCycleAfterTheCommit) {
  const Cycles4 cycles = figure("warp-disable-commit");
  EXPECT_EQ(cycles, (Cycles4{2, 13, 14, 14 + 11}));
}

TEST(ExceptionTimeline, WarpDisableFetchesInTheCycleAfterTheLastCheck) {
  const Cycles4 cycles = figure("warp-disable-last-check");
  EXPECT_EQ(cycles, (Cycles4{2, 12, 13, 13 + 10}));
}

TEST(ExceptionTimeline, AStoreCommitsInTheCycleAfterItsLastCheck) {
  const std::string body =
      "st.global.u32 [%rd0], %r9;\nsub.u32 %r9, %r9, 4;\n"
      "st.global.u32 [%rd0+8], %r9;\n";
  const std::string warm_up = "mov.u32 %r9, %laneid;\nst.global.u32 [%rd0], %r9;\n";
  EXPECT_EQ(issue_cycles(warm_up, body, figure_options("warp-disable-commit"), 2, 2),
            (Cycles4{2, 13}));
  EXPECT_EQ(issue_cycles(warm_up, body, figure_options("warp-disable-last-check"), 2, 2),
            (Cycles4{2, 12}));
}

/// Stores that a lone block of so many that fit in an SM issues without a break.
std::size_t stores_without_wait(std::uint32_t blocks_per_sm, const std::string& log) {
  IdealMachine::Options options = figure_options("{name: operand-log, bytes: " + log + "}");
  options.parameters.blocks = blocks_per_sm;
  options.parameters.port.injection_latency = Cycles{200};
  options.parameters.memory_queue = 64;
  std::string body;
  for (int i = 0; i < 20; ++i) body += "st.global.u32 [%rd0+" + std::to_string(4 * i) + "], %r9;\n";
  const std::vector<std::int64_t> cycles =
      issue_cycles("mov.u32 %r9, 5;\nst.global.u32 [%rd0], %r9;\n", body, options, 0, 20);
  std::size_t count = 1;
  while (count < cycles.size() && cycles[count] < 100) ++count;
  if (count < cycles.size()) {
    EXPECT_EQ(cycles[count], 200 + 1) << "the cycle after the first's last check";
  }
  return count;
}

TEST(OperandLog, EightKilobytesAreDividedAmongTheBlocksThatFit) {
  // 2, 4, 8, 16 and 32 entries, two for a store.
  EXPECT_EQ(stores_without_wait(16, "8KiB"), 1u) << "the second store waits";
  EXPECT_EQ(stores_without_wait(8, "8KiB"), 2u);
  EXPECT_EQ(stores_without_wait(4, "8KiB"), 4u);
  EXPECT_EQ(stores_without_wait(2, "8KiB"), 8u);
  EXPECT_EQ(stores_without_wait(1, "8KiB"), 16u);
}

TEST(OperandLog, OtherSizesAreDividedAlike) {
  EXPECT_EQ(stores_without_wait(16, "16KiB"), 2u);
  EXPECT_EQ(stores_without_wait(16, "20KiB"), 2u) << "5 entries";
  EXPECT_EQ(stores_without_wait(8, "20KiB"), 5u);
  EXPECT_EQ(stores_without_wait(16, "32KiB"), 4u);
}

TEST(OperandLog, AnAccessWithoutLanesIsNotWokenInPlaceOfOneThatWantsEntries) {
  IdealMachine::Options options = figure_options("{name: operand-log, bytes: 8KiB}");
  options.parameters.blocks = 16;  // two entries for each: one store
  options.parameters.port.injection_latency = Cycles{200};
  IdealMachine machine(
      kernel_of("mov.u32 %r9, %tid.x;\nsetp.gt.u32 %p0, %r9, 31;\nst.global.u32 [%rd0], %r9;\n"
                "@%p0 st.global.u32 [%rd0+4], %r9;\nbar.sync 0;\n"),
      options);
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {machine.address(0), machine.address(4096), 5});
  EXPECT_LT(machine.run(90, 5000), 5000) << "the second warp's store still waits at the barrier's";
}

TEST(ReplayQueue, AFullQueueHoldsTheNextMemoryInstructionUntilACommit) {
  const std::string warm_up =
      "add.u64 %rd2, %rd1, 0;\nld.global.u32 %r3, [%rd2];\n"
      "add.u32 %r9, %r3, %r3;\n";
  const std::string body =
      "ld.global.u32 %r4, [%rd2];\nld.global.u32 %r5, [%rd2+4];\n"
      "ld.global.u32 %r6, [%rd2+8];\nst.global.u32 [%rd0], %r4;\n"
      "st.global.u32 [%rd0+4], %r5;\nst.global.u32 [%rd0+8], %r6;\n"
      "st.global.u32 [%rd0+12], %r9;\n";
  const Cycles4 cycles =
      issue_cycles(warm_up, body, figure_options("{name: replay-queue, entries: 2}"), 2, 3);
  EXPECT_EQ(cycles, (Cycles4{2, 3, 12})) << "the first commits in cycle 11";
}

}  // namespace
}  // namespace lockstep::timeline_test
