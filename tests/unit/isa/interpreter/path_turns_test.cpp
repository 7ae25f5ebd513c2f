// Turns of paths that wait for each other, on the paths alone.

#include <gtest/gtest.h>

#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "models/isa/divergence.hpp"

namespace lockstep::isa::path_turns_test {
namespace {

constexpr std::uint32_t turn = 5;

/// A loop at 1 to 2 that lanes leave to 3; a branch at 6 that sends lanes to 8; a barrier at 9.
struct Code {
  std::vector<Instruction> instructions = std::vector<Instruction>(12);

  explicit Code(bool strong = true) {
    Instruction& loop = instructions[2];
    loop.category = Category::branch;
    loop.guard = 0;
    loop.target = 1;
    loop.reconvergence = 3;
    loop.flags = flag_decides_wait;
    if (strong) loop.flags |= flag_strong_wait;
    Instruction& branch = instructions[6];
    branch.category = Category::branch;
    branch.guard = 1;
    branch.target = branch.reconvergence = 8;
    instructions[9].category = Category::barrier;
    instructions[10].category = Category::exit;
  }
  operator const Instruction*() const { return instructions.data(); }
};

/// `rounds` times through the loop with all lanes of the path.
void go_round(WarpPaths& paths, const Code& code, std::uint32_t rounds) {
  for (std::uint32_t i = 0; i < rounds; ++i) {
    ASSERT_EQ(paths.pc(), 1u);
    paths.advance();
    paths.branch_of_wait(code, paths.mask());
  }
}

/// Lane 0 has left the loop and waits behind it for the others.
WarpPaths with_lane_0_out(const Code& code, std::uint32_t of_turn = turn) {
  WarpPaths paths;
  paths.start(0xf, 1, of_turn);
  paths.advance();
  paths.branch_of_wait(code, 0xe);
  return paths;
}

std::string bytes_of(WarpPaths& paths) {
  std::ostringstream bytes;
  Archive archive = Archive::saving(bytes);
  paths.serialize(archive);
  return bytes.str();
}

TEST(PathTurns, AWarpThatStartsIsAsAFreshOneWhateverTheLastOneLeft) {
  const Code code;
  WarpPaths paths = with_lane_0_out(code);
  go_round(paths, code, turn);  // two paths stand, and one has used up its turn
  paths.start(0xff, 3, turn);
  WarpPaths fresh;
  fresh.start(0xff, 3, turn);
  EXPECT_EQ(bytes_of(paths), bytes_of(fresh));
}

TEST(PathTurns, LanesThatWaitToMeetGoOnWhenTheTurnIsUsedUp) {
  const Code code;
  WarpPaths paths = with_lane_0_out(code);
  go_round(paths, code, turn - 1);
  EXPECT_EQ(paths.mask(), 0xeu);
  go_round(paths, code, 1);
  EXPECT_EQ(paths.mask(), 0x1u);
  EXPECT_EQ(paths.pc(), 3u);
}

TEST(PathTurns, TheyMeetTheOthersAtTheNextBranch) {
  const Code code;
  WarpPaths paths = with_lane_0_out(code);
  go_round(paths, code, turn);
  for (int i = 0; i < 3; ++i) paths.advance();
  EXPECT_EQ(paths.mask(), 0xeu) << "it waits at the branch";
  paths.advance();
  paths.branch_of_wait(code, 0);
  for (int i = 0; i < 3; ++i) paths.advance();
  EXPECT_EQ(paths.pc(), 6u);
  EXPECT_EQ(paths.mask(), 0xfu);
}

TEST(PathTurns, APathThatHasUsedUpATurnHasShortOnes) {
  const Code code;
  WarpPaths paths = with_lane_0_out(code);
  go_round(paths, code, turn);
  for (int i = 0; i < 3; ++i) paths.advance();
  go_round(paths, code, 1);
  EXPECT_EQ(paths.mask(), 0x1u) << "let go from the branch";
  EXPECT_EQ(paths.pc(), 6u);
}

TEST(PathTurns, ALaneThatLeavesBeginsTheTurnAnew) {
  const Code code;
  WarpPaths paths = with_lane_0_out(code);
  go_round(paths, code, turn - 1);
  paths.advance();
  paths.branch_of_wait(code, 0xc);
  go_round(paths, code, turn - 1);
  EXPECT_EQ(paths.mask(), 0xcu);
}

TEST(PathTurns, AWeakLoopHasManyTurns) {
  const Code code(false);
  WarpPaths paths = with_lane_0_out(code);
  go_round(paths, code, turn * turns_of_weak_loops - 1);
  EXPECT_EQ(paths.mask(), 0xeu);
  go_round(paths, code, 1);
  EXPECT_EQ(paths.mask(), 0x1u);
}

TEST(PathTurns, WithoutTurnsAPathStays) {
  const Code code;
  WarpPaths paths = with_lane_0_out(code, 0);
  go_round(paths, code, 1000);
  EXPECT_EQ(paths.mask(), 0xeu);
}

TEST(PathTurns, AWarpWhoseLanesAreTogetherIsLeftAlone) {
  const Code code;
  WarpPaths paths;
  paths.start(0xf, 1, turn);
  go_round(paths, code, 1000);
  EXPECT_EQ(paths.mask(), 0xfu);
  EXPECT_FALSE(paths.has_given_up());
}

TEST(PathTurns, PathsApartBecomeOneWhenABarrierLetsThemGo) {
  Code code;
  code.instructions[6] = {};  // straight on to the barrier and the end: nowhere to meet
  WarpPaths paths = with_lane_0_out(code);
  go_round(paths, code, turn);
  for (int i = 0; i < 6; ++i) paths.advance();
  ASSERT_EQ(paths.pc(), 9u);
  paths.wait();
  paths.advance();
  paths.branch_of_wait(code, 0);
  for (int i = 0; i < 6; ++i) paths.advance();
  paths.wait();
  paths.release(0xf);
  EXPECT_EQ(paths.pc(), 10u);
  EXPECT_EQ(paths.mask(), 0xfu);
}

TEST(PathTurns, WhatIsSavedInATurnGoesOnTheSame) {
  const Code code;
  WarpPaths paths = with_lane_0_out(code);
  go_round(paths, code, turn - 2);
  std::stringstream stream;
  {
    Archive saving = Archive::saving(stream);
    paths.serialize(saving);
  }
  WarpPaths restored;
  Archive restoring = Archive::restoring(stream);
  restored.serialize(restoring);
  go_round(restored, code, 1);
  EXPECT_EQ(restored.mask(), 0xeu);
  go_round(restored, code, 1);
  EXPECT_EQ(restored.mask(), 0x1u);
}

TEST(PathTurns, AFullMaskGoesOnWithoutLanesThatCannotCome) {
  Code code;
  code.instructions[4].category = Category::shuffle_vote;
  WarpPaths paths;
  paths.start(0xff, 2, turn);
  paths.branch(0x0f, 8, 8);  // they wait at 8
  paths.advance();
  EXPECT_EQ(paths.pc(), 4u);
  EXPECT_EQ(paths.arrive(0xffffffff), 0u);
  EXPECT_FALSE(paths.runnable());
  ASSERT_TRUE(paths.unblock(code, false));
  const auto absent = paths.take_absent();
  ASSERT_TRUE(absent.has_value());
  EXPECT_EQ(absent->pc, 4u);
  EXPECT_EQ(absent->lanes, 0x0fu);
  EXPECT_EQ(paths.arrive(0xffffffff), 0xf0u);
  paths.advance();
  EXPECT_EQ(paths.pc(), 5u);
}

TEST(PathTurns, LanesThatABarrierOfTheWarpNamesAreLetGoToIt) {
  Code code;
  code.instructions[4].category = code.instructions[8].category = Category::warp_barrier;
  WarpPaths paths;
  paths.start(0xff, 2, turn);
  paths.branch(0x0f, 8, 8);
  paths.advance();
  EXPECT_EQ(paths.arrive(0xff), 0u);
  ASSERT_TRUE(paths.unblock(code, false));
  EXPECT_EQ(paths.pc(), 8u);
  EXPECT_EQ(paths.arrive(0xff), 0x0fu);
}

TEST(PathTurns, PathsBecomeOneWhereTheyAreSynchronizedThoughTheyAreToMeetLater) {
  WarpPaths paths;
  paths.start(0xff, 1, turn);
  paths.branch(0x0f, 4, 30);
  paths.jump(4);
  ASSERT_EQ(paths.pc(), 4u);
  ASSERT_EQ(paths.arrive(0xff), 0u);
  ASSERT_EQ(paths.arrive(0xff), 0xffu);
  paths.advance();
  EXPECT_EQ(paths.pc(), 5u);
  EXPECT_EQ(paths.mask(), 0xffu);
  paths.jump(30);
  EXPECT_EQ(paths.pc(), 30u);
  EXPECT_EQ(paths.mask(), 0xffu);
}

TEST(PathTurns, PathsBecomeOneBehindABarrierOfTheBlockThoughTheyAreToMeetLater) {
  WarpPaths paths;
  paths.start(0xff, 1, turn);
  paths.branch(0x0f, 4, 30);
  paths.jump(4);
  paths.wait();
  ASSERT_EQ(paths.pc(), 4u);
  paths.wait();
  paths.release(0xff);
  EXPECT_EQ(paths.pc(), 5u);
  EXPECT_EQ(paths.mask(), 0xffu);
}

TEST(PathTurns, OnlyThosePathsBecomeOneThatAreSynchronized) {
  WarpPaths paths;
  paths.start(0xff, 1, turn);
  paths.branch(
      std::array{WarpPaths::Arm{4, 0x0f}, WarpPaths::Arm{5, 0xc0}, WarpPaths::Arm{4, 0x30}}, 30);
  ASSERT_EQ(paths.arrive(0x3f), 0u);
  ASSERT_EQ(paths.pc(), 5u) << "stands behind it already, and is not named";
  paths.wait();
  ASSERT_EQ(paths.arrive(0x3f), 0x3fu);
  paths.advance();
  EXPECT_EQ(paths.mask(), 0x3fu);
  EXPECT_EQ(paths.pc(), 5u);
}

TEST(PathTurns, PathsThatAreToMeetAtDifferentPlacesStayApart) {
  WarpPaths paths;
  paths.start(0xff, 1, turn);
  paths.branch(0x0f, 20, 30);
  paths.branch(0x30, 20, 25);
  ASSERT_EQ(paths.mask(), 0xc0u);
  paths.jump(20);
  ASSERT_EQ(paths.arrive(0xff), 0u);
  ASSERT_EQ(paths.arrive(0xff), 0u);
  ASSERT_EQ(paths.arrive(0xff), 0xffu);
  paths.advance();
  ASSERT_EQ(paths.mask(), 0xf0u) << "both are to meet at 25";
  ASSERT_EQ(paths.pc(), 21u);
  paths.jump(25);
  ASSERT_EQ(paths.mask(), 0xf0u);
  paths.jump(30);
  ASSERT_EQ(paths.mask(), 0x0fu);
  ASSERT_EQ(paths.pc(), 21u);
  paths.jump(30);
  EXPECT_EQ(paths.pc(), 30u);
  EXPECT_EQ(paths.mask(), 0xffu);
}

TEST(PathTurns, BeforeVoltaPathsMeetWhereTheirBranchSays) {
  WarpPaths paths;
  paths.start(0xff, 1, 0);
  paths.branch(0x0f, 4, 30);
  paths.jump(4);
  ASSERT_EQ(paths.arrive(0xff), 0u);
  ASSERT_EQ(paths.arrive(0xff), 0xffu);
  paths.advance();
  EXPECT_EQ(paths.pc(), 5u);
  EXPECT_NE(paths.mask(), 0xffu);
}

}  // namespace
}  // namespace lockstep::isa::path_turns_test
