/// When instructions enter a core's window and retire from it.  Slots, with a window of eight.
#include "models/cpu/instruction_window.hpp"

#include <gtest/gtest.h>

namespace lockstep::test::instruction_window_test {
namespace {

constexpr std::int64_t unknown = InstructionWindow::unknown;

TEST(InstructionWindow, OneEntersInEverySlot) {
  InstructionWindow window(8);
  window.start(30);
  EXPECT_EQ(window.entry(0), 30);
  EXPECT_EQ(window.entry(100), 130);
}

TEST(InstructionWindow, AMissHoldsUpWhatIsAWindowBehindIt) {
  InstructionWindow window(8);
  const std::uint32_t miss = window.miss(2);
  EXPECT_EQ(window.entry(9), 9);
  EXPECT_EQ(window.entry(10), unknown);
  window.answer(miss, 50);
  EXPECT_EQ(window.entry(10), 51);
  EXPECT_EQ(window.entry(12), 53);
}

TEST(InstructionWindow, MissesInOneWindowAreWaitedForTogether) {
  InstructionWindow window(8);
  const std::uint32_t first = window.miss(0), second = window.miss(4);
  window.answer(second, 40);
  EXPECT_EQ(window.entry(8), unknown);
  window.answer(first, 41);
  EXPECT_EQ(window.entry(8), 42);
  // The second one retired four slots after the first.
  EXPECT_EQ(window.entry(12), 46);
}

TEST(InstructionWindow, AMissThatIsAnsweredInTimeCostsNothing) {
  InstructionWindow window(8);
  window.answer(window.miss(2), 9);
  EXPECT_EQ(window.entry(20), 20);
}

TEST(InstructionWindow, WhatWaitsForSomethingElseDelaysAllBehindIt) {
  InstructionWindow window(8);
  window.hold(5, 25);
  EXPECT_EQ(window.entry(5), 25);
  EXPECT_EQ(window.entry(6), 26);
}

TEST(InstructionWindow, NothingRetiresBeforeAMissInFrontOfIt) {
  InstructionWindow window(8);
  const std::uint32_t miss = window.miss(3);
  EXPECT_EQ(window.retired(3, 100), 2);
  EXPECT_EQ(window.retired(1000, 100), 3);
  EXPECT_EQ(window.retirement(3, 100), 4);
  EXPECT_EQ(window.retirement(4, 100), unknown);
  window.answer(miss, 60);
  EXPECT_EQ(window.retirement(4, 100), 61);
  EXPECT_EQ(window.retired(61, 100), 4);
  EXPECT_EQ(window.retired(63, 100), 6);
}

TEST(InstructionWindow, NothingRetiresThatHasNotEntered) {
  InstructionWindow window(8);
  EXPECT_EQ(window.retired(1000, 5), 5);
  EXPECT_EQ(window.retirement(6, 5), unknown);
}

}  // namespace
}  // namespace lockstep::test::instruction_window_test
