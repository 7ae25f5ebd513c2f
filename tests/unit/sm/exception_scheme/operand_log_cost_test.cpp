/// Table 2 of paper 000, to the digit.
#include "models/sm/exception_scheme/operand_log_cost.hpp"

#include <gtest/gtest.h>

namespace lockstep::operand_log_cost_test {
namespace {

void expect_cost(std::uint64_t kib, double sm_area, double gpu_area, double sm_power,
                 double gpu_power) {
  const auto cost = operand_log_cost(Bytes{kib * 1024});
  ASSERT_TRUE(cost.has_value()) << kib;
  EXPECT_DOUBLE_EQ(cost->sm_area, sm_area) << kib;
  EXPECT_DOUBLE_EQ(cost->gpu_area, gpu_area) << kib;
  EXPECT_DOUBLE_EQ(cost->sm_power, sm_power) << kib;
  EXPECT_DOUBLE_EQ(cost->gpu_power, gpu_power) << kib;
}

TEST(OperandLogCost, IsThatOfTheTable) {
  expect_cost(8, 1.04, 0.47, 1.82, 1.28);
  expect_cost(16, 1.47, 0.67, 2.34, 1.64);
  expect_cost(20, 1.67, 0.76, 2.61, 1.83);
  expect_cost(32, 2.36, 1.08, 3.38, 2.37);
}

TEST(OperandLogCost, GoesInStraightLinesBetweenSizes) {
  EXPECT_DOUBLE_EQ(operand_log_cost(Bytes{12 * 1024})->sm_area, (1.04 + 1.47) / 2);
}

TEST(OperandLogCost, IsUnknownBeyondTheTable) {
  EXPECT_FALSE(operand_log_cost(Bytes{4096}).has_value());
  EXPECT_FALSE(operand_log_cost(Bytes{64 * 1024}).has_value());
}

}  // namespace
}  // namespace lockstep::operand_log_cost_test
