/// Saved between two windows and restored into a fresh SM, cut into windows of any size, under
/// every scheduler: the same memory, cycles and statistics.
#include <gtest/gtest.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "models/sm/warp_scheduler/registry.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::state_test {
namespace {

/// Shared memory, barriers, divergence, atomics, local memory, loads and stores that conflict.
isa::Module busy_kernel() {
  return kernel_of(R"(
    mov.u32 %r30, buffer;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    add.u64 %rd4, %rd0, %rd2;
    mov.u32 %r20, 0;
    mov.u32 %r21, 0;
again:
    ld.global.u32 %r5, [%rd3];
    xor.b32 %r5, %r5, %r20;
    and.b32 %r6, %r5, 7;
    shl.b32 %r7, %r6, 2;
    mov.u32 %r8, array;
    add.u32 %r8, %r8, %r7;
    st.local.u32 [%r8], %r5;
    setp.lt.u32 %p1, %r6, 3;
    @%p1 bra low;
    mul.lo.u32 %r21, %r21, 3;
    atom.global.add.u32 %r9, [%rd0+65536], 1;
    bra.uni both;
low:
    add.u32 %r21, %r21, %r5;
    shl.b32 %r10, %r1, 2;
    add.u32 %r10, %r10, %r30;
    st.shared.u32 [%r10], %r21;
both:
    bar.sync 0;
    xor.b32 %r11, %r1, 17;
    shl.b32 %r11, %r11, 2;
    add.u32 %r11, %r11, %r30;
    ld.shared.u32 %r12, [%r11];
    ld.local.u32 %r13, [%r8];
    add.u32 %r21, %r21, %r12;
    add.u32 %r21, %r21, %r13;
    st.global.u32 [%rd4], %r21;
    bar.sync 0;
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p2, %r20, 12;
    @%p2 bra again;
  )",
                   ".shared .align 4 .b8 buffer[1024];\n.local .align 4 .b8 array[32];\n");
}

struct Outcome {
  std::int64_t end = 0;
  std::vector<std::byte> memory;
  std::vector<std::uint64_t> statistics;
  bool operator==(const Outcome&) const = default;
};

IdealMachine::Options small() {
  IdealMachine::Options options;
  options.parameters.l1.mshrs = 6;
  options.parameters.l1.merges = 2;
  options.parameters.l1.unified_bytes = Bytes{0};
  options.parameters.l1.bytes = Bytes{2048};
  options.parameters.port.queue = 2;
  options.noc.credits = 2;
  // Pages come and go.
  options.knows_pages = false;
  options.l1_tlb.entries = 3;
  options.l1_tlb.mshrs = 2;
  options.gmmu_latency = Cycles{70};  // answers come after the longest window
  return options;
}

Outcome outcome_of(IdealMachine& machine) {
  Outcome outcome;
  outcome.memory = machine.memory();
  const StatisticsView view =
      machine.sm().statistics(machine.clock().edge(Cycles{machine.cycle()}));
  outcome.statistics.resize(view.schema->row_size(1));
  view.schema->gather(view.values, 1, outcome.statistics);
  return outcome;
}

void start(IdealMachine& machine) {
  for (std::uint32_t i = 0; i < 2048; ++i)
    machine.put<std::uint32_t>(32768 + 4 * i, i * 2654435761u);
  machine.launch("k", {9, 1, 1}, {256, 1, 1}, {machine.address(0), machine.address(32768), 0});
}

Outcome run(std::int64_t window, const IdealMachine::Options& options) {
  IdealMachine machine(busy_kernel(), options);
  start(machine);
  const std::int64_t end = machine.run(window);
  machine.advance_to(end + 1000);
  Outcome outcome = outcome_of(machine);
  outcome.end = end;
  // The harness counts time by its windows: compare what the SM counted up to its own end.
  return outcome;
}

TEST(SmCore, WindowsOfAnySizeGiveTheSameEnd) {
  const Outcome expected = run(90, small());
  for (std::int64_t window : {1, 3, 17, 159}) {
    const Outcome got = run(window, small());
    EXPECT_EQ(got.end, expected.end) << window;
    EXPECT_TRUE(got.memory == expected.memory) << window;
    EXPECT_EQ(got.statistics, expected.statistics) << window;
  }
}

TEST(SmCore, RestoredBetweenWindowsItGoesOnAsBefore) {
  const Outcome expected = run(90, small());
  for (std::int64_t at : {50, 400, 1111, 2500, 6000}) {
    IdealMachine machine(busy_kernel(), small());
    start(machine);
    for (std::int64_t c = 10; c < at; c += 10) machine.advance_to(c);
    machine.save_and_restore();
    const std::int64_t end = machine.run();
    machine.advance_to(end + 1000);
    Outcome got = outcome_of(machine);
    EXPECT_EQ(end, expected.end) << at;
    EXPECT_TRUE(got.memory == expected.memory) << at;
    EXPECT_EQ(got.statistics, expected.statistics) << at;
  }
}

/// Instructions and constants of which little fits into the SM.
IdealMachine::Options fetching() {
  IdealMachine::Options options = small();
  auto& code = options.parameters.instruction_cache;
  code.l0_bytes = Bytes{512};
  code.l1_bytes = Bytes{1024};
  code.l1_ways = 4;
  code.ahead = 2;
  auto& constants = options.parameters.constant_cache;
  constants.l0_bytes = Bytes{256};
  constants.l1_bytes = Bytes{512};
  return options;
}

TEST(SmCore, InstructionsThatComeFromMemoryAreNoExceptionToThat) {
  const Outcome expected = run(90, fetching());
  EXPECT_TRUE(expected.memory == run(90, small()).memory);
  for (std::int64_t window : {1, 17, 159}) {
    const Outcome got = run(window, fetching());
    EXPECT_EQ(got.end, expected.end) << window;
    EXPECT_EQ(got.statistics, expected.statistics) << window;
  }
  for (std::int64_t at : {50, 300, 400, 1111, 2500, 6000}) {
    IdealMachine machine(busy_kernel(), fetching());
    start(machine);
    for (std::int64_t c = 10; c < at; c += 10) machine.advance_to(c);
    machine.save_and_restore();
    const std::int64_t end = machine.run();
    machine.advance_to(end + 1000);
    const Outcome got = outcome_of(machine);
    EXPECT_EQ(end, expected.end) << at;
    EXPECT_TRUE(got.memory == expected.memory) << at;
    EXPECT_EQ(got.statistics, expected.statistics) << at;
  }
}

/// Loads of words 33 apart, whose lines stand in few banks, of constants by an index, and stores of
/// whole sectors that are read again.
isa::Module spread_kernel() {
  return kernel_of(
      R"(
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r4, %r2, 256, %r1;
    and.b32 %r5, %r1, 31;
    shr.u32 %r6, %r1, 5;
    mul.lo.u32 %r7, %r5, 132;
    mad.lo.u32 %r7, %r6, 64, %r7;
    cvt.u64.u32 %rd2, %r7;
    add.u64 %rd3, %rd1, %rd2;
    mul.wide.u32 %rd4, %r4, 4;
    add.u64 %rd5, %rd0, %rd4;
    mov.u32 %r21, table;
    and.b32 %r22, %r1, 15;
    mad.lo.u32 %r21, %r22, 4, %r21;
    mov.u32 %r20, 0;
    mov.u32 %r30, 0;
again:
    ld.global.u32 %r8, [%rd3];
    ld.global.u32 %r9, [%rd3+64];
    ld.const.u32 %r10, [%r21];
    add.u32 %r30, %r30, %r8;
    add.u32 %r30, %r30, %r9;
    add.u32 %r30, %r30, %r10;
    st.global.u32 [%rd5], %r30;
    ld.global.u32 %r11, [%rd5];
    xor.b32 %r30, %r30, %r11;
    add.u32 %r30, %r30, %r20;
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p1, %r20, 10;
    @%p1 bra again;
    st.global.u32 [%rd5], %r30;
  )",
      "", ".const .align 4 .b32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};\n");
}

/// The tags of L1 in banks, which stores fill as well, and a port of constants.
IdealMachine::Options banked() {
  IdealMachine::Options options = small();
  auto& l1 = options.parameters.l1;
  l1.lines_per_cycle = 4;
  l1.banked = l1.tag_banks = l1.allocates_stores = true;
  l1.recency = L1Recency::tags;
  options.parameters.constant_interval = Cycles{5};
  return options;
}

TEST(SmCore, BankedTagsAndAPortOfConstantsAreNoExceptionToThat) {
  const auto run_spread = [](std::int64_t window, std::int64_t at,
                             const IdealMachine::Options& options) {
    IdealMachine machine(spread_kernel(), options);
    start(machine);
    if (at > 0) {
      for (std::int64_t c = 10; c < at; c += 10) machine.advance_to(c);
      machine.save_and_restore();
    }
    const std::int64_t end = machine.run(window);
    machine.advance_to(end + 1000);
    Outcome outcome = outcome_of(machine);
    outcome.end = end;
    return outcome;
  };
  const Outcome expected = run_spread(90, 0, banked());
  EXPECT_TRUE(expected.memory == run_spread(90, 0, small()).memory);
  for (std::int64_t window : {1, 17, 159}) {
    const Outcome got = run_spread(window, 0, banked());
    EXPECT_EQ(got.end, expected.end) << window;
    EXPECT_EQ(got.statistics, expected.statistics) << window;
  }
  for (std::int64_t at = 50; at < 3000; at += 130) {
    const Outcome got = run_spread(90, at, banked());
    EXPECT_EQ(got.end, expected.end) << at;
    EXPECT_TRUE(got.memory == expected.memory) << at;
    EXPECT_EQ(got.statistics, expected.statistics) << at;
  }
}

TEST(SmCore, EverySchedulerComputesTheSame) {
  // Sums depend on the order of nothing in this kernel but its barriers.
  const Outcome expected = run(90, small());
  for (const PolicyInfo& info : warp_scheduler_policies()) {
    IdealMachine::Options options = small();
    options.warp_scheduler = info.name;
    EXPECT_TRUE(run(90, options).memory == expected.memory) << info.name;
  }
}

TEST(SmCore, LinesReservedAtTheMissComputeTheSame) {
  IdealMachine::Options options = small();
  options.parameters.l1.allocation = L1Allocation::on_miss;
  EXPECT_TRUE(run(90, options).memory == run(90, small()).memory);
}

TEST(SmCore, IdleSmSleeps) {
  IdealMachine machine(busy_kernel(), small());
  EXPECT_EQ(machine.sm().next_activity(), Time::never());
  start(machine);
  machine.run();
  machine.advance_to(machine.cycle() + 5000);
  EXPECT_EQ(machine.sm().next_activity(), Time::never());
  EXPECT_TRUE(machine.sm().finished());
}

TEST(SmCore, EveryCycleOfASchedulerIsCountedOnce) {
  IdealMachine machine(busy_kernel(), small());
  start(machine);
  machine.run();
  machine.advance_to(machine.cycle() + 1000);
  machine.statistics();
  const SmStatistics& s = machine.statistics();
  std::uint64_t sum = s.tenant[0].issue_slots.value();
  for (const Counter& c : s.tenant[0].stalls) sum += c.value();
  EXPECT_EQ(sum, 4 * s.tenant[0].active_cycles.value());
}

}  // namespace
}  // namespace lockstep::state_test
