/// Places of local memory: an SM's own, some of which are lent, and some of others.
/// Source: preemption.md, section 2 with its errata (local memory stays where it is).
#include "models/sm/blocks/local_homes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::ElementsAre;

constexpr TenantId one{1}, two{2};

/// SM 2 of some with ten homes each.
class LocalHomesTest : public testing::Test {
 protected:
  LocalHomes homes{LocalHome(20), 10, 4};
};

TEST_F(LocalHomesTest, AreTakenAndGivenBack) {
  const std::vector<LocalHome> first = homes.take(2, one);
  EXPECT_THAT(first, ElementsAre(LocalHome(20), LocalHome(21)));
  EXPECT_EQ(homes.tenant_at(LocalHome(21)), one);
  homes.give_back(first);
  EXPECT_EQ(homes.take(2, two), first);
  EXPECT_EQ(homes.tenant_at(LocalHome(21)), two);
}

TEST_F(LocalHomesTest, AreLentUpToALimit) {
  const auto a = homes.take(3, one), b = homes.take(2, one);
  EXPECT_TRUE(homes.can_lend(a));
  homes.lend(a);
  EXPECT_FALSE(homes.can_lend(b));
  homes.give_back(a);
  EXPECT_TRUE(homes.can_lend(b));
  EXPECT_EQ(homes.take(3, two), a) << "they are free again";
}

TEST_F(LocalHomesTest, AreAwayUntilTheirBlockIsOnChipAgain) {
  const auto a = homes.take(3, one), b = homes.take(2, one);
  homes.lend(a);
  homes.borrow(a, one);
  EXPECT_FALSE(homes.can_lend(b)) << "its context stands in another SM's place";
  EXPECT_TRUE(homes.can_lend(a)) << "it may go on to a third";
  homes.entered(a);
  EXPECT_TRUE(homes.can_lend(b));
  homes.give_back(a);
  EXPECT_FALSE(homes.any_due()) << "they are at home";
}

TEST_F(LocalHomesTest, ThoseOfOthersAreDueWhenTheirBlockHasEnded) {
  const std::vector<LocalHome> borrowed{LocalHome(33), LocalHome(31)};
  homes.borrow(borrowed, two);
  EXPECT_TRUE(homes.borrowed(borrowed));
  EXPECT_EQ(homes.tenant_at(LocalHome(31)), two);
  EXPECT_FALSE(homes.any_due());
  homes.give_back(borrowed);
  EXPECT_THAT(homes.due(), ElementsAre(borrowed));
}

TEST_F(LocalHomesTest, ThoseOfOthersGoOnToAThirdSm) {
  const std::vector<LocalHome> borrowed{LocalHome(3), LocalHome(4), LocalHome(5), LocalHome(6),
                                        LocalHome(7)};
  homes.borrow(borrowed, two);
  EXPECT_TRUE(homes.can_lend(borrowed)) << "nothing of its own is missing";
  homes.lend(borrowed);
  EXPECT_FALSE(homes.any_due()) << "the third has to return them";
}

}  // namespace
}  // namespace lockstep
