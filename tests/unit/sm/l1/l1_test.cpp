/// L1 with its misses, and nothing above it.
#include "models/sm/l1/l1.hpp"

#include <gtest/gtest.h>

#include "models/vm/page_table_entry.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::l1_test {
namespace {

class L1Test : public testing::Test {
 protected:
  explicit L1Test(void (*change)(SmSetup&) = nullptr) : world("", change) {}

  static LineBytes bytes(unsigned sector, std::uint32_t mask) {
    LineBytes result{};
    result[sector] = mask;
    return result;
  }
  /// A fill of all sectors, each byte `value`.
  void fill(std::uint64_t tag, std::uint8_t value, bool local = false) {
    std::array<std::byte, line_bytes> line;
    line.fill(std::byte{value});
    l1.fill({.tag = tag, .epoch = l1.cache().epoch(), .local = local}, 0xf, line.data(),
            SmCycle(100), SmCycle(90));
  }
  std::byte byte_of(std::uint64_t tag, unsigned at) {
    return l1.cache().data(l1.cache().find(tag))[at];
  }
  static std::array<std::byte, line_bytes> image(std::uint8_t value) {
    std::array<std::byte, line_bytes> line;
    line.fill(std::byte{value});
    return line;
  }
  std::uint64_t local_tag() const {
    return world.constants.local.first_line_of(LocalHome(0)).value() / line_bytes;
  }

  SmWorld world;
  L1 l1{world.sm};
};

TEST_F(L1Test, AStoreChangesValidSectorsByItsMask) {
  fill(5, 1);
  l1.store(5, 0b10, bytes(1, 0x0000000f), image(9).data(), SmCycle(10));
  EXPECT_EQ(byte_of(5, 32), std::byte{9});
  EXPECT_EQ(byte_of(5, 36), std::byte{1});
  EXPECT_EQ(byte_of(5, 0), std::byte{1});
}

TEST_F(L1Test, AStoreBringsNoLineIn) {
  l1.store(5, 0b1111, {~0u, ~0u, ~0u, ~0u}, image(9).data(), SmCycle(10));
  EXPECT_EQ(l1.cache().find(5), L1Cache::none);
}

struct AllocatedStoresTest : L1Test {
  AllocatedStoresTest()
      : L1Test([](SmSetup& setup) { setup.parameters.l1.allocates_stores = true; }) {}
};

TEST_F(AllocatedStoresTest, AStoreOfWholeSectorsIsReadBack) {
  l1.store(5, 0b0111, {~0u, 0x00ffffff, ~0u, 0}, image(9).data(), SmCycle(10));
  const std::uint16_t line = l1.cache().find(5);
  ASSERT_NE(line, L1Cache::none);
  EXPECT_EQ(l1.cache().line(line).valid, 0b0101) << "a part of the second sector is not known";
  EXPECT_EQ(byte_of(5, 0), std::byte{9});
  EXPECT_EQ(byte_of(5, 64), std::byte{9});
}

TEST_F(AllocatedStoresTest, AStoreOfAPartOfASectorBringsNoLineIn) {
  l1.store(5, 0b0001, bytes(0, 0x7fffffff), image(9).data(), SmCycle(10));
  EXPECT_EQ(l1.cache().find(5), L1Cache::none);
}

TEST_F(AllocatedStoresTest, AStoreOfWholeSectorsAddsThemToALine) {
  fill(5, 1);
  l1.pass_by(5, 0b0110);
  l1.store(5, 0b0010, bytes(1, ~0u), image(9).data(), SmCycle(10));
  EXPECT_EQ(l1.cache().line(l1.cache().find(5)).valid, 0b1011);
  EXPECT_EQ(byte_of(5, 32), std::byte{9});
  EXPECT_EQ(byte_of(5, 96), std::byte{1});
}

TEST_F(AllocatedStoresTest, WhatIsStoredReplacesTheOldestLine) {
  l1.resize(4, SmCycle(0));  // a line in each of four sets
  fill(8, 1);
  l1.store(8 ^ 4 ^ 1, 0b0001, bytes(0, ~0u), image(9).data(), SmCycle(10));
  EXPECT_EQ(l1.cache().find(8), L1Cache::none);
  EXPECT_EQ(byte_of(8 ^ 4 ^ 1, 0), std::byte{9});
}

TEST_F(L1Test, AStoreClosesThePendingFillOfItsSectorsOnly) {
  const std::uint16_t waiter = l1.misses().take_waiter();
  l1.misses().take({.tag = 5, .pending = 0b0001, .open = true}, waiter);
  l1.store(5, 0b0010, bytes(1, ~0u), image(9).data(), SmCycle(10));
  EXPECT_NE(l1.misses().find(5), MissTable::none);
  l1.store(5, 0b0001, bytes(0, ~0u), image(9).data(), SmCycle(10));
  EXPECT_EQ(l1.misses().find(5), MissTable::none);
  EXPECT_EQ(l1.misses().used(), 1u);
}

TEST_F(L1Test, WhatPassesByDropsTheSectors) {
  fill(5, 1);
  l1.pass_by(5, 0b0100);
  EXPECT_EQ(l1.cache().line(l1.cache().find(5)).valid, 0b1011);
}

TEST_F(L1Test, LocalBytesBecomeValidWhenAllOfASectorAreDirty) {
  world.enter_block(32);
  const std::uint64_t tag = local_tag();
  ASSERT_TRUE(l1.store_local(tag, 1, bytes(0, 0x0000ffff), image(4).data(), SmCycle(10)));
  const std::uint16_t line = l1.cache().find(tag);
  EXPECT_EQ(l1.cache().line(line).valid, 0);
  EXPECT_TRUE(l1.has_dirty(line, 1));
  ASSERT_TRUE(l1.store_local(tag, 1, bytes(0, 0xffff0000), image(4).data(), SmCycle(11)));
  EXPECT_EQ(l1.cache().line(line).valid, 1);
}

TEST_F(L1Test, AFillLeavesDirtyBytesAlone) {
  world.enter_block(32);
  const std::uint64_t tag = local_tag();
  l1.store_local(tag, 1, bytes(0, 1), image(4).data(), SmCycle(10));
  fill(tag, 8, true);
  EXPECT_EQ(byte_of(tag, 0), std::byte{4});
  EXPECT_EQ(byte_of(tag, 1), std::byte{8});
}

TEST_F(L1Test, AnEvictedLocalLineIsWrittenBackForItsTenant) {
  world.enter_block(32, 0, 1);
  l1.store_local(local_tag(), 1, bytes(0, 1), image(4).data(), SmCycle(10));
  l1.resize(64, SmCycle(20));
  ASSERT_EQ(world.requests(), 1u);
  EXPECT_EQ(world.statistics.tenant[1].local_writebacks.value(), 1u);
}

TEST_F(L1Test, LocalLinesOfAFinishedBlockAreForgotten) {
  world.enter_block(32);
  l1.store_local(local_tag(), 1, bytes(0, ~0u), image(4).data(), SmCycle(10));
  BlockSlot block;
  block.warps = 0b10;
  l1.forget_local(block);
  EXPECT_NE(l1.cache().find(local_tag()), L1Cache::none);
  block.warps = 0b01;
  l1.forget_local(block);
  EXPECT_EQ(l1.cache().find(local_tag()), L1Cache::none);
  EXPECT_EQ(world.requests(), 0u);
}

TEST_F(L1Test, AFrameShotDownIsNotReadAgain) {
  fill(page_bytes / line_bytes, 1);      // frame 1
  fill(2 * page_bytes / line_bytes, 2);  // frame 2
  l1.drop_frames(std::array{frame_number(page_bytes, false)});
  EXPECT_EQ(l1.cache().line(l1.cache().find(page_bytes / line_bytes)).valid, 0);
  EXPECT_EQ(l1.cache().line(l1.cache().find(2 * page_bytes / line_bytes)).valid, 0xf);
}

}  // namespace
}  // namespace lockstep::l1_test
