/// A block's context, taken out of an SM and put in again; nothing issues.
/// Source: architecture.md, section 8, rules 4 and 5; 000, section 4.1.
#include "models/sm/context/block_contexts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/front_end/issue_path.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/unit/sm/machine/turnover_world.hpp"

namespace lockstep::block_contexts_test {
namespace {

void with_replay_queue(SmSetup& setup) {
  setup.exception_scheme = policy_named(exception_scheme_policies(), "replay-queue");
  setup.preemptible = true;
}

/// A block of two warps with shared memory, every byte of it known.
class BlockContextsTest : public testing::Test, protected TurnoverWorld {
 protected:
  BlockContextsTest() : TurnoverWorld(with_replay_queue) {
    GridLaunch launch;
    launch.blocks = {64, 1, 1};
    launch.threads = {64, 1, 1};
    launch.parameter_bytes = 24;
    launch.dynamic_shared_bytes = 256;
    launch.registers = 64;  // every row of the kernel has its registers
    turnover.start_grid(launch, std::vector<std::byte>(24));
    turnover.stage({0, 0, 0}, {}, SmCycle(10));
    turnover.stage({0, 0, 1}, {}, SmCycle(10));
    for (const BlockPlace place : {first, second}) fill(place, 3 * place.value() + 1);
    front_end.begin_cycle(SmCycle(11));  // the warps have fetched
    front_end.begin_cycle(SmCycle(12));
  }
  static void fill(std::span<std::byte> bytes, unsigned seed) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(i * 7 + i / 256 + seed);
  }
  void fill(BlockPlace place, unsigned seed) {
    fill(world.blocks.rows_of(place), seed);
    fill(world.blocks.shared_of(place), seed + 1);
  }
  /// Registers, the kernel's predicates, and shared memory.
  std::vector<std::byte> content(BlockPlace place) {
    std::vector<std::byte> bytes;
    const auto add = [&](const std::uint32_t* words, std::size_t count) {
      const auto more = std::as_bytes(std::span(words, count));
      bytes.insert(bytes.end(), more.begin(), more.end());
    };
    for_each_warp(world.blocks.block(place).warps, [&](WarpSlot slot) {
      const Warp& warp = world.blocks.warp(slot);
      const GridSlot& grid = world.blocks.grid_of(warp);
      add(warp.registers, grid.issue->rows * std::size_t{isa::warp_size});
      add(grid.predicates_behind(warp.registers), grid.program->predicates);
    });
    const std::span<std::byte> shared = world.blocks.shared_of(place);
    bytes.insert(bytes.end(), shared.begin(), shared.end());
    return bytes;
  }
  static std::size_t equal_words(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i + 4 <= a.size(); i += 4) equal += std::memcmp(&a[i], &b[i], 4) == 0;
    return equal;
  }
  WarpSlot warp_of(BlockPlace place) {
    return WarpSlot(static_cast<std::uint16_t>(std::countr_zero(world.blocks.block(place).warps)));
  }
  std::uint64_t ready() const { return front_end.ready_warps(); }

  static constexpr BlockPlace first{0}, second{1};
};

TEST_F(BlockContextsTest, AFrozenBlockIssuesNothingAndOthersGoOn) {
  const std::uint64_t before = ready();
  ASSERT_NE(before & world.blocks.block(first).warps, 0u);
  contexts.freeze(first);
  EXPECT_EQ(ready() & world.blocks.block(first).warps, 0u);
  EXPECT_EQ(ready(), before & ~world.blocks.block(first).warps);
}

TEST_F(BlockContextsTest, NothingOfABlockIsLeftOnChipWhenItIsTakenOut) {
  contexts.freeze(first);
  ASSERT_TRUE(contexts.is_quiet(first));
  const std::vector<std::byte> before = content(first), other = content(second);
  contexts.take_out(first, SmCycle(20));
  EXPECT_EQ(equal_words(content(first), before), 0u);
  EXPECT_EQ(content(second), other) << "another block's are its own";
}

TEST_F(BlockContextsTest, WhatComesBackIsWhatWasTakenOut) {
  contexts.freeze(first);
  const std::vector<std::byte> before = content(first);
  isa::WarpPaths& paths = world.blocks.warp(warp_of(first)).paths;
  paths.exit(0xff);
  const std::uint32_t lanes = paths.mask();
  ASSERT_EQ(lanes, 0xffffff00u);
  std::vector<std::byte> bytes = contexts.take_out(first, SmCycle(20)).bytes;
  paths = {};
  contexts.put_in(first, std::move(bytes), SmCycle(40));
  EXPECT_EQ(content(first), before);
  EXPECT_EQ(world.blocks.warp(warp_of(first)).paths.mask(), lanes);
  EXPECT_EQ(ready() & world.blocks.block(first).warps, 0u) << "they issue from the next cycle on";
  front_end.begin_cycle(SmCycle(41));
  EXPECT_EQ(ready() & world.blocks.block(first).warps, world.blocks.block(first).warps);
}

TEST_F(BlockContextsTest, AContextIsReadyForAnotherPlace) {
  contexts.freeze(first);
  contexts.freeze(second);
  const std::vector<std::byte> before = content(first);
  std::vector<std::byte> bytes = contexts.take_out(first, SmCycle(20)).bytes;
  contexts.take_out(second, SmCycle(20));
  contexts.put_in(second, std::move(bytes), SmCycle(40));
  EXPECT_EQ(content(second), before);
}

TEST_F(BlockContextsTest, ASleepingWarpSleepsForTheRestOfItsTime) {
  const WarpSlot slot = warp_of(first);
  front_end.call_off(bit_of(slot));
  front_end.sleeping().begin(slot, SmCycle(1000));
  front_end.resume_at(slot, SmCycle(1000));
  contexts.freeze(first);
  ASSERT_TRUE(contexts.is_quiet(first));
  std::vector<std::byte> bytes = contexts.take_out(first, SmCycle(300)).bytes;
  EXPECT_FALSE(front_end.sleeping().asleep(slot));
  contexts.put_in(first, std::move(bytes), SmCycle(5000));
  EXPECT_TRUE(front_end.sleeping().asleep(slot));
  EXPECT_EQ(front_end.sleeping().until(slot), SmCycle(5700));
}

TEST_F(BlockContextsTest, ABlockIsNotQuietWhileAStoreOfItIsOnItsWay) {
  contexts.freeze(first);
  world.blocks.under_way().stores_begin(warp_of(first), first, 1);
  EXPECT_FALSE(contexts.is_quiet(first));
  EXPECT_TRUE((contexts.freeze(second), contexts.is_quiet(second)));
  world.blocks.under_way().store_ends(warp_of(first), first, 0);
  EXPECT_TRUE(contexts.is_quiet(first));
}

TEST_F(BlockContextsTest, ABlockIsNotQuietWhileAResultOfItIsPending) {
  contexts.freeze(first);
  Warp& warp = world.blocks.warp(warp_of(first));
  warp.pending.mark(1);
  EXPECT_FALSE(contexts.is_quiet(first));
  warp.pending.clear(1);
  EXPECT_TRUE(contexts.is_quiet(first));
}

}  // namespace
}  // namespace lockstep::block_contexts_test
