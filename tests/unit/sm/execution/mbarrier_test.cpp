/// mbarrier on the machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::mbarrier_test {
namespace {

const std::string declarations = ".shared .align 8 .b64 gate;\n";

/// Every thread stores to its word of out, arrives and waits; one of the second warp then does
/// `last`.
std::string gather(const std::string& last) {
  return R"(
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [gate], 64;
ready:
    bar.sync 0;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd0, %rd2;
    st.global.u32 [%rd3], %r1;
    mbarrier.arrive.shared.b64 %rd4, [gate];
wait:
    mbarrier.try_wait.shared.b64 %p2, [gate], %rd4;
    @!%p2 bra wait;
    setp.ne.u32 %p3, %r1, 32;
    @%p3 bra done;
)" + last +
         R"(
done:
)";
}

TEST(SmMbarrier, WhatEveryWarpStoredIsThereBehindTheBarrier) {
  IdealMachine machine(kernel_of(gather("ld.global.u32 %r2, [%rd0+124];\n"
                                        "st.global.u32 [%rd0+1024], %r2;\n"),
                                 declarations),
                       {});
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {IdealMachine::address(0), 0, 0});
  machine.run();
  EXPECT_EQ(machine.get<std::uint32_t>(1024), 31u);
}

TEST(SmMbarrier, AReleaseWaitsForTheStoresOfWarpsThatArrivedBefore) {
  IdealMachine machine(
      kernel_of(gather("fence.acq_rel.gpu;\nst.global.u32 [%rd0+1024], 1;\n"), declarations), {});
  machine.record = true;
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {IdealMachine::address(0), 0, 0});
  machine.run();
  machine.sort_seen();
  ASSERT_EQ(machine.seen.size(), 3u);
  // Out to the memory, its latency, and back.
  EXPECT_GE(machine.seen[2].departure,
            std::max(machine.seen[0].departure, machine.seen[1].departure) + 140 + 33 + 20);
}

TEST(SmMbarrier, AnArrivalOfAllLanesIsAnAtomicInTurn) {
  IdealMachine machine(kernel_of(R"(
    mbarrier.init.shared.b64 [gate], 32;
    mbarrier.arrive.shared.b64 %rd4, [gate];
    mbarrier.pending_count.b64 %r2, %rd4;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd0, %rd2;
    st.global.u32 [%rd3], %r2;
)",
                                 declarations),
                       {});
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, {IdealMachine::address(0), 0, 0});
  machine.run();
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(machine.get<std::uint32_t>(4 * i), 32 - i) << i;
}

/// Lane 0 of each warp: the first warp initialises a barrier for one arrival, computes `work`
/// additions and arrives; the second one waits.
std::string one_works(unsigned work, const std::string& wait) {
  return R"(
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [gate], 1;
ready:
    bar.sync 0;
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra wait;
)" + times(work, "add.u32 %r2, %r2, %r0;\n") +
         R"(
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra done;
    mbarrier.arrive.shared.b64 %rd4, [gate];
    bra done;
wait:
)" + wait +
         R"(
    @!%p4 bra wait;
done:
)";
}
constexpr const char* suspended = "mbarrier.try_wait.parity.shared.b64 %p4, [gate], 0;\n";
constexpr const char* spinning = "mbarrier.test_wait.parity.shared.b64 %p4, [gate], 0;\n";

struct Counted {
  std::uint64_t instructions, waited;
  std::int64_t end;
};
Counted count(unsigned work, const std::string& wait, IdealMachine::Options options = {}) {
  IdealMachine machine(kernel_of(one_works(work, wait), declarations), options);
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {IdealMachine::address(0), 0, 7});
  const std::int64_t end = machine.run();
  const auto& counts = machine.statistics().tenant[0];
  return {counts.warp_instructions.value(),
          counts.stalls[static_cast<std::size_t>(StallCause::mbarrier)].value(), end};
}

TEST(SmMbarrier, AWarpThatIsSuspendedIssuesNothing) {
  const Counted less = count(100, suspended), more = count(500, suspended);
  EXPECT_EQ(more.instructions - less.instructions, 400u) << "what the other one computes";
  EXPECT_GT(more.waited, less.waited + 100) << "its scheduler has nothing else";
  EXPECT_GT(count(500, spinning).instructions, more.instructions + 100);
}

TEST(SmMbarrier, ASuspendedWarpGoesOnAsSoonAsTheLastArrivalLetsIt) {
  EXPECT_LE(count(500, suspended).end, count(500, spinning).end + 1);
}

TEST(SmMbarrier, AWaitEndsWhenItsTimeIsUp) {
  // Who waits again issues two instructions more each time.
  IdealMachine::Options options;
  const Counted whole = count(900, suspended, options);
  options.parameters.mbarrier_time_limit = Cycles(200);
  const Counted limited = count(900, suspended, options);
  EXPECT_GT(limited.instructions, whole.instructions + 2 * 5);
  const std::string hinted = "mbarrier.try_wait.parity.shared.b64 %p4, [gate], 0, 200;\n";
  EXPECT_GT(count(900, hinted).instructions, whole.instructions + 2 * 5) << "nanoseconds";
}

/// A warp copies a word a lane, arrives behind that and ends; another one waits for the bytes.
const std::string copied_by_another = R"(
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [gate], 32;
ready:
    bar.sync 0;
    and.b32 %r2, %r1, 31;
    shl.b32 %r3, %r2, 2;
    cvt.u64.u32 %rd2, %r3;
    mov.u32 %r4, room;
    add.u32 %r5, %r4, %r3;
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra wait;
    add.u64 %rd3, %rd1, %rd2;
    cp.async.ca.shared.global [%r5], [%rd3], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [gate];
    bra done;
wait:
    mbarrier.try_wait.parity.shared.b64 %p4, [gate], 0;
    @!%p4 bra wait;
    xor.b32 %r6, %r5, 124;
    ld.shared.u32 %r7, [%r6];
    add.u64 %rd5, %rd0, %rd2;
    st.global.u32 [%rd5], %r7;
done:
)";
const std::string room = declarations + ".shared .align 128 .b8 room[128];\n";

void start_copies(IdealMachine& machine) {
  for (std::uint32_t i = 0; i < 32; ++i) machine.put<std::uint32_t>(0x1000 + 4 * i, 100 + i);
  machine.launch("k", {1, 1, 1}, {64, 1, 1},
                 {IdealMachine::address(0), IdealMachine::address(0x1000), 0});
}

TEST(SmMbarrier, AnArrivalBehindCopiesComesWithTheirBytesAlsoWhenItsWarpHasEnded) {
  IdealMachine machine(kernel_of(copied_by_another, room), {});
  start_copies(machine);
  const std::int64_t end = machine.run(90, 100'000);
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(machine.get<std::uint32_t>(4 * i), 100 + (i ^ 31)) << i;
  EXPECT_LT(end, 10'000) << "it did not wait for its time to be up";
}

TEST(SmMbarrier, WaitersAndArrivalsToComeGoThroughACheckpointAtAnyCycle) {
  const isa::Module module = kernel_of(copied_by_another, room);
  IdealMachine whole(module, {});
  start_copies(whole);
  const std::int64_t end = whole.run();
  for (std::int64_t stop = 10; stop < end; stop += 7) {
    IdealMachine machine(module, {});
    start_copies(machine);
    machine.run_to(stop);
    machine.save_and_restore();
    ASSERT_EQ(machine.run(), end) << stop;
    ASSERT_EQ(machine.memory(), whole.memory()) << stop;
  }
}

}  // namespace
}  // namespace lockstep::mbarrier_test
