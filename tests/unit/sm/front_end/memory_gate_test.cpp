#include "models/sm/front_end/memory_gate.hpp"

#include <gtest/gtest.h>

namespace lockstep::memory_gate_test {
namespace {

TEST(MemoryGate, ClosesWithTheLastPlaceOfTheQueueAndOpensWhenOneLeaves) {
  MemoryGate gate(2);
  gate.entered();
  EXPECT_NE(gate.open(), 0u);
  gate.entered();
  EXPECT_EQ(gate.open(), 0u);
  EXPECT_EQ(gate.wake(), no_cycle);
  gate.left(SmCycle(10));
  EXPECT_EQ(gate.open(), ~std::uint64_t{0});
}

TEST(MemoryGate, OvershootingInstructionsMustLeaveFirst) {
  MemoryGate gate(2);
  for (int i = 0; i < 4; ++i) gate.entered();
  gate.left(SmCycle(10));
  gate.left(SmCycle(11));
  EXPECT_EQ(gate.open(), 0u);
  gate.left(SmCycle(12));
  EXPECT_NE(gate.open(), 0u);
}

TEST(MemoryGate, BanksServeOneAccessAfterTheOther) {
  MemoryGate gate(8);
  EXPECT_EQ(gate.serve_banks(3, SmCycle(100)), SmCycle(103));
  EXPECT_EQ(gate.serve_banks(2, SmCycle(101)), SmCycle(105));
  EXPECT_EQ(gate.serve_banks(1, SmCycle(200)), SmCycle(201));
}

TEST(MemoryGate, BusyBanksCloseItUntilFewEnoughCyclesAreLeft) {
  MemoryGate gate(8);
  gate.serve_banks(7, SmCycle(100));
  EXPECT_NE(gate.open(), 0u);
  gate.serve_banks(3, SmCycle(100));  // busy up to 110
  EXPECT_EQ(gate.open(), 0u);
  EXPECT_EQ(gate.wake(), SmCycle(103));
  gate.update(SmCycle(103));
  EXPECT_NE(gate.open(), 0u);
  EXPECT_EQ(gate.wake(), no_cycle);
}

}  // namespace
}  // namespace lockstep::memory_gate_test
