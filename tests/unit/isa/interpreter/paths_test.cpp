#include <map>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "models/isa/divergence.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::paths_test {
namespace {

TEST(WarpPaths, ArmsMeetAtThePostDominator) {
  WarpPaths paths;
  paths.start(0xff);
  paths.branch(0x0f, 10, 20);  // fall-through runs first
  EXPECT_EQ(paths.pc(), 1u);
  EXPECT_EQ(paths.mask(), 0xf0u);
  paths.jump(20);
  EXPECT_EQ(paths.pc(), 10u);
  EXPECT_EQ(paths.mask(), 0x0fu);
  paths.jump(20);
  EXPECT_EQ(paths.pc(), 20u);
  EXPECT_EQ(paths.mask(), 0xffu);
}

TEST(WarpPaths, ALoopThatLanesLeaveOneByOneCollectsThemBehindIt) {
  WarpPaths paths;
  paths.start(0xf, 5);
  for (std::uint32_t left = 0xf; left != 0; left &= left - 1) {
    EXPECT_EQ(paths.pc(), 5u);
    EXPECT_EQ(paths.mask(), left);
    paths.advance();
    paths.branch(left & (left - 1), 5, 7);
  }
  EXPECT_EQ(paths.pc(), 7u);
  EXPECT_EQ(paths.mask(), 0xfu);
}

TEST(WarpPaths, ExitedLanesAreMissedNowhere) {
  WarpPaths paths;
  paths.start(0xff);
  paths.branch(0x0f, 10, 20);
  paths.exit(0xf0);
  EXPECT_EQ(paths.mask(), 0x0fu);
  paths.jump(20);
  EXPECT_EQ(paths.mask(), 0x0fu);
  EXPECT_EQ(paths.alive(), 0x0fu);
  paths.exit(0x0f);
  EXPECT_TRUE(paths.finished());
  EXPECT_FALSE(paths.runnable());
}

using Lanes = std::map<std::uint32_t, std::uint32_t>;

/// Lanes by the pc where they stand.
Lanes all_paths(const WarpPaths& paths) {
  Lanes all;
  paths.for_each_path([&](std::uint32_t pc, std::uint32_t lanes) { all[pc] |= lanes; });
  return all;
}

TEST(WarpPaths, AllLanesAreNamedWhereverTheirPathsStand) {
  WarpPaths paths;
  paths.start(0xff, 3);
  EXPECT_EQ(all_paths(paths), (Lanes{{3, 0xff}}));
  paths.branch(0x0f, 10, 20);
  EXPECT_EQ(all_paths(paths), (Lanes{{4, 0xf0}, {10, 0x0f}}));
  paths.advance();
  paths.branch(0x30, 8, 9);
  EXPECT_EQ(all_paths(paths), (Lanes{{6, 0xc0}, {8, 0x30}, {10, 0x0f}}));
  paths.jump(9);
  EXPECT_EQ(all_paths(paths), (Lanes{{8, 0x30}, {9, 0xc0}, {10, 0x0f}})) << "they wait to meet";
  paths.wait();
  EXPECT_EQ(all_paths(paths), (Lanes{{8, 0x30}, {9, 0xc0}, {10, 0x0f}})) << "at a barrier";
  EXPECT_EQ(paths.pc(), 10u);
  paths.advance();
  EXPECT_EQ(all_paths(paths), (Lanes{{8, 0x30}, {9, 0xc0}, {11, 0x0f}}));
  paths.jump(20);
  EXPECT_EQ(all_paths(paths), (Lanes{{8, 0x30}, {9, 0xc0}, {20, 0x0f}}));
  paths.release(0xff);
  paths.jump(20);
  EXPECT_EQ(all_paths(paths), (Lanes{{20, 0xff}}));
}

TEST(WarpPaths, LanesThatWaitForACallAreNamedBehindIt) {
  WarpPaths paths;
  paths.start(0xff, 3);
  paths.call(0x0f, 40);
  EXPECT_EQ(all_paths(paths), (Lanes{{4, 0xf0}, {40, 0x0f}}));
  paths.ret(0x03);
  EXPECT_EQ(all_paths(paths), (Lanes{{4, 0xf3}, {41, 0x0c}}));
  paths.exit(0x04);
  EXPECT_EQ(all_paths(paths), (Lanes{{4, 0xf3}, {42, 0x08}}));
}

TEST(WarpPaths, AnotherPathRunsWhileOneWaitsAtABarrier) {
  WarpPaths paths;
  paths.start(0xff);
  paths.branch(0x0f, 10, 20);
  paths.wait();
  EXPECT_EQ(paths.mask(), 0x0fu);
  EXPECT_EQ(paths.pc(), 10u);
  paths.wait();
  EXPECT_FALSE(paths.runnable());
  paths.release(0xff);
  ASSERT_TRUE(paths.runnable());
  std::uint32_t seen = 0;
  for (int i = 0; i < 2; ++i) {
    seen |= paths.mask();
    EXPECT_TRUE(paths.pc() == 2 || paths.pc() == 11);
    paths.jump(20);
  }
  EXPECT_EQ(paths.pc(), 20u);
  EXPECT_EQ(seen, 0xffu);
}

TEST(WarpPaths, AMemberMaskWaitsForLanesOnTheOtherArm) {
  WarpPaths paths;
  paths.start(0xff);
  paths.branch(0x0f, 10, 20);
  EXPECT_EQ(paths.arrive(0xff), 0u);
  EXPECT_EQ(paths.pc(), 10u);
  EXPECT_EQ(paths.arrive(0xff), 0x0fu);
  paths.advance();
  // Both arms have arrived: the other one does not wait again.
  EXPECT_EQ(paths.mask(), 0xf0u);
  EXPECT_EQ(paths.arrive(0xff), 0xf0u);
  paths.advance();
  EXPECT_EQ(paths.pc(), 2u);
  paths.jump(20);
  EXPECT_EQ(paths.mask(), 0x0fu);
  EXPECT_EQ(paths.pc(), 11u);
  paths.jump(20);
  EXPECT_EQ(paths.mask(), 0xffu);
}

TEST(WarpPaths, PathsAtTheSameInstructionExecuteItTogether) {
  WarpPaths paths;
  paths.start(0xff);
  paths.branch(0x0f, 10, 30);
  paths.jump(20);
  EXPECT_EQ(paths.arrive(0xff), 0u);
  paths.jump(20);
  EXPECT_EQ(paths.arrive(0xff), 0xffu);
  paths.advance();
  EXPECT_EQ(paths.pc(), 21u);
  paths.jump(30);
  EXPECT_EQ(paths.pc(), 21u);
  paths.jump(30);
  EXPECT_EQ(paths.mask(), 0xffu);
}

TEST(WarpPaths, AnExitLetsAMemberMaskPass) {
  WarpPaths paths;
  paths.start(0xff);
  paths.branch(0x0f, 10, 20);
  EXPECT_EQ(paths.arrive(0xff), 0u);
  paths.exit(0x0f);
  EXPECT_EQ(paths.mask(), 0xf0u);
  EXPECT_EQ(paths.arrive(0xff), 0xf0u);
}

TEST(WarpPaths, ReturnsMeetBehindTheCall) {
  WarpPaths paths;
  paths.start(0xff);
  paths.call(0xff, 100);
  paths.branch(0x0f, 110, no_reconvergence);
  paths.ret(0xf0);
  EXPECT_EQ(paths.pc(), 110u);
  paths.ret(0x0f);
  EXPECT_EQ(paths.pc(), 1u);
  EXPECT_EQ(paths.mask(), 0xffu);
}

TEST(WarpPaths, LanesThatReturnEarlyAreNotWaitedForInTheCallee) {
  WarpPaths paths;
  paths.start(0xff);
  paths.call(0xff, 100);
  paths.branch(0x0f, 110, 120);
  paths.ret(0x30);  // a guarded return
  EXPECT_EQ(paths.mask(), 0xc0u);
  paths.jump(120);
  paths.jump(120);
  EXPECT_EQ(paths.mask(), 0xcfu);
  paths.ret(0xcf);
  EXPECT_EQ(paths.mask(), 0xffu);
}

TEST(WarpPaths, DeepRecursionUnwindsToTheStart) {
  WarpPaths paths;
  paths.start(0xffffffff);
  for (int depth = 0; depth < 100; ++depth) paths.call(paths.mask(), 100);
  for (int depth = 0; depth < 100; ++depth) paths.ret(paths.mask());
  EXPECT_EQ(paths.pc(), 1u);
  EXPECT_EQ(paths.mask(), 0xffffffffu);
}

TEST(WarpPaths, CountsBackwardBranchesUntilALaneLeaves) {
  WarpPaths paths;
  paths.start(0xf, 3);
  for (int i = 0; i < 9; ++i) {
    paths.advance();
    paths.branch(0xf, 3, 5);
  }
  EXPECT_EQ(paths.backward_branches(), 9u);
  paths.advance();
  paths.branch(0x7, 3, 5);
  EXPECT_EQ(paths.backward_branches(), 0u);
}

TEST(WarpPaths, SavedStateContinuesTheSame) {
  WarpPaths paths, restored;
  paths.start(0xffff);
  for (std::uint32_t level = 0; level < 6; ++level)
    paths.branch(1u << level, 50 + level, 100 + level);
  std::stringstream stream;
  {
    Archive saving = Archive::saving(stream);
    paths.serialize(saving);
  }
  Archive restoring = Archive::restoring(stream);
  restored.serialize(restoring);
  while (!paths.finished()) {
    ASSERT_EQ(paths.pc(), restored.pc());
    ASSERT_EQ(paths.mask(), restored.mask());
    paths.exit(paths.mask() & -paths.mask());
    restored.exit(restored.mask() & -restored.mask());
  }
  EXPECT_TRUE(restored.finished());
}

}  // namespace
}  // namespace lockstep::isa::paths_test
