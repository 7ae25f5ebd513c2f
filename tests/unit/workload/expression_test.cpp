#include "models/workload/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::expression_test {
namespace {

using testing::HasSubstr;

double value_of(const std::string& text, const Variables& variables = {}) {
  return Expression(text, "w.yaml:3:7").evaluate(variables);
}

std::string error_of(const std::string& text, const Variables& variables = {}) {
  return message_of([&] { value_of(text, variables); });
}

std::string integer_error(const std::string& text, std::int64_t low, std::int64_t high) {
  return message_of([&] { Expression(text, "w.yaml:3:7").evaluate_integer({}, low, high); });
}

TEST(Expression, ArithmeticFollowsTheUsualPrecedence) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("7 % 4 + 1"), 4);
  EXPECT_EQ(value_of("2 ^ 10"), 1024);
  EXPECT_EQ(value_of("-3 + 1"), -2);
}

TEST(Expression, RoundingFunctionsGiveWholeNumbers) {
  EXPECT_EQ(value_of("ceil(1000 / 256)"), 4);
  EXPECT_EQ(value_of("floor(1000 / 256)"), 3);
  EXPECT_EQ(value_of("log2(4096)"), 12);
  EXPECT_EQ(value_of("min(3, 2) + max(3, 2)"), 5);
}

TEST(Expression, VariablesAreParametersOfTheWorkload) {
  EXPECT_EQ(value_of("ceil(n / block)", {{"n", 1000}, {"block", 256}}), 4);
}

TEST(Expression, LargeIntegersKeepTheirBits) {
  EXPECT_EQ(Expression("1099511627775", "").evaluate_integer({}, 0, std::int64_t{1} << 40),
            1099511627775);
}

TEST(Expression, UnknownNameIsReportedWithItsPosition) {
  EXPECT_THAT(error_of("n / blok", {{"n", 1}, {"block", 2}}),
              testing::AllOf(testing::StartsWith("w.yaml:3:7: cannot evaluate \"n / blok\""),
                             HasSubstr("blok")));
}

TEST(Expression, BadSyntaxIsReportedWithItsPosition) {
  EXPECT_THAT(error_of("3 * (2"), testing::StartsWith("w.yaml:3:7: cannot evaluate \"3 * (2\""));
}

TEST(Expression, EmptyTextIsAnError) {
  EXPECT_THAT(error_of(""), testing::StartsWith("w.yaml:3:7: "));
}

TEST(Expression, DivisionByZeroIsAnError) {
  EXPECT_THAT(error_of("4 / n", {{"n", 0}}),
              testing::StartsWith("w.yaml:3:7: \"4 / n\" is not a finite number"));
}

TEST(Expression, FractionIsNoWholeNumber) {
  EXPECT_THAT(integer_error("5 / 2", 0, 10),
              testing::StartsWith("w.yaml:3:7: \"5 / 2\" is 2.5, not a whole number from 0 to 10"));
}

TEST(Expression, IntegerBoundsAreInclusive) {
  EXPECT_EQ(integer_error("10", 0, 10), "no error");
  EXPECT_EQ(integer_error("0", 0, 10), "no error");
  EXPECT_THAT(integer_error("11", 0, 10), HasSubstr("not a whole number from 0 to 10"));
  EXPECT_THAT(integer_error("-1", 0, 10), HasSubstr("not a whole number from 0 to 10"));
}

}  // namespace
}  // namespace lockstep::expression_test
