#include "models/sm/blocks/under_way.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep {
namespace {

constexpr WarpSlot first(0), second(1);
constexpr BlockPlace place(2);

class UnderWayTest : public testing::Test {
 protected:
  UnderWay under_way{4, 4};
};

TEST_F(UnderWayTest, AWarpsLastFlightIsSaid) {
  under_way.flight_begins(first);
  under_way.flight_begins(first);
  under_way.flight_begins(second);
  EXPECT_FALSE(under_way.flight_ends(first));
  EXPECT_TRUE(under_way.flight_ends(first));
  EXPECT_EQ(under_way.flights(second), 1u);
}

TEST_F(UnderWayTest, AStoreCountsForItsWarpAndItsBlockUntilItIsAcknowledged) {
  under_way.stores_begin(first, place, 2);
  under_way.store_is_sent(first);
  EXPECT_EQ(under_way.unsent_stores(first), 1u);
  EXPECT_EQ(under_way.stores(first), 2u);
  EXPECT_EQ(under_way.stores(place), 2u);
  EXPECT_FALSE(under_way.store_ends(first, place, 0));
  under_way.store_is_sent(first);
  EXPECT_TRUE(under_way.store_ends(first, place, 0));
  EXPECT_EQ(under_way.stores(place), 0u);
}

TEST_F(UnderWayTest, StoresThatNeverLeaveAreForgottenInThePhaseInWhichTheyBegan) {
  under_way.stores_begin(first, place, 3);
  under_way.order_stores(place);
  under_way.stores_begin(first, place, 2);
  under_way.stores_are_dropped(first, place, 0, 3);
  EXPECT_EQ(under_way.ordered_stores(place), 0u);
  EXPECT_EQ(under_way.stores(place), 2u);
  EXPECT_EQ(under_way.unsent_stores(first), 2u);
}

TEST_F(UnderWayTest, AReleaseWaitsForOwnStoresAndForThoseBeforeABarrier) {
  under_way.stores_begin(second, place, 1);
  EXPECT_TRUE(under_way.is_released(first, place)) << "nothing orders the other warp's store";
  under_way.order_stores(place);
  EXPECT_FALSE(under_way.is_released(first, place));
  under_way.store_ends(second, place, 0);
  EXPECT_TRUE(under_way.is_released(first, place));
}

TEST_F(UnderWayTest, StoresOfABlockThatLeavesAreItsGrids) {
  under_way.stores_begin(first, place, 2);
  EXPECT_TRUE(under_way.block_leaves(place, 5));
  under_way.block_enters(place);
  EXPECT_EQ(under_way.stores(place), 0u);
  under_way.stores_begin(second, place, 1);
  EXPECT_FALSE(under_way.block_leaves(place, 5)) << "the grid waits already";
  EXPECT_FALSE(under_way.left_store_ends(5));
  EXPECT_FALSE(under_way.left_store_ends(5));
  EXPECT_TRUE(under_way.left_store_ends(5));
}

TEST_F(UnderWayTest, ABlockWithoutStoresLeavesNothing) {
  EXPECT_FALSE(under_way.block_leaves(place, 0));
}

TEST_F(UnderWayTest, RestoredItWaitsForTheSame) {
  UnderWay other{4, 4};
  under_way.flight_begins(first);
  under_way.stores_begin(first, place, 2);
  under_way.order_stores(place);
  under_way.copies().begin(second);
  under_way.stores_begin(second, BlockPlace(1), 1);
  under_way.block_leaves(BlockPlace(1), 3);
  save_and_restore(under_way, other);
  EXPECT_EQ(other.flights(first), 1u);
  EXPECT_EQ(other.stores(first), 2u);
  EXPECT_EQ(other.ordered_stores(place), 2u);
  EXPECT_EQ(other.phase(place), 1u);
  EXPECT_EQ(other.copies().through(second, 0, true, SmCycle(9)), no_cycle);
  EXPECT_TRUE(other.left_store_ends(3));
}

}  // namespace
}  // namespace lockstep
