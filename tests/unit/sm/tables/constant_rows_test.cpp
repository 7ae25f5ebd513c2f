#include "models/sm/tables/constant_rows.hpp"

#include <gtest/gtest.h>

namespace lockstep::constant_rows_test {
namespace {

using Values = std::vector<std::uint32_t>;

TEST(ConstantRows, SameValuesStandOnce) {
  ConstantRows constants;
  const ConstantRows::Rows one = constants.share(Values{1, 2, 3});
  const ConstantRows::Rows same = constants.share(Values{1, 2, 3});
  const ConstantRows::Rows other = constants.share(Values{1, 2, 4});
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
  EXPECT_EQ(*other, (Values{1, 2, 4}));
}

TEST(ConstantRows, LastUntilNobodyHoldsThem) {
  ConstantRows constants;
  ConstantRows::Rows rows = constants.share(Values{5});
  const std::weak_ptr<const Values> watched = rows;
  rows.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(*constants.share(Values{5}), Values{5});
}

}  // namespace
}  // namespace lockstep::constant_rows_test
