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

}  // namespace
}  // namespace lockstep::mbarrier_test
