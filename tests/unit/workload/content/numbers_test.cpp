#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/workload/content/elements.hpp"
#include "tests/unit/workload/content/content_bytes.hpp"

namespace lockstep::numbers_test {
namespace {

using isa::Type;
using sample::content_error;
using sample::values_of;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = Initializer::Kind;

TEST(LinearContent, CountsInSteps) {
  EXPECT_THAT(values_of(sample::buffer(Type::f32, 4, Kind::linear, 1, 0.25)),
              ElementsAre(1, 1.25, 1.5, 1.75));
  EXPECT_THAT(values_of(sample::buffer(Type::s32, 3, Kind::linear, 1, -2)), ElementsAre(1, -1, -3));
}

TEST(LinearContent, FractionsOfIntegersTruncate) {
  EXPECT_THAT(values_of(sample::buffer(Type::u8, 4, Kind::linear, 0, 0.5)),
              ElementsAre(0, 0, 1, 1));
}

TEST(LinearContent, FloatsAreTheNumbersOfDoublesRounded) {
  const auto floats = values_of(sample::buffer(Type::f32, 3001, Kind::linear, -7.3, 0.1));
  auto expected = values_of(sample::buffer(Type::f64, 3001, Kind::linear, -7.3, 0.1));
  for (double& value : expected) value = static_cast<float>(value);
  EXPECT_EQ(floats, expected);
}

TEST(LinearContent, IntegersWrapAround) {
  EXPECT_THAT(values_of(sample::buffer(Type::u8, 3, Kind::linear, 254, 1)),
              ElementsAre(254, 255, 0));
}

TEST(LinearContent, LargeIntegersAreExact) {
  const Buffer buffer = sample::buffer(Type::u64, 2, Kind::linear, 0x1p60, 1);
  std::uint64_t second;
  std::memcpy(&second, sample::bytes_of(buffer).data() + 8, 8);
  EXPECT_EQ(second, (std::uint64_t{1} << 60) + 1);
}

TEST(ValueContent, EveryElementIsTheValue) {
  EXPECT_THAT(values_of(sample::buffer(Type::s32, 5, Kind::value, -1)), Each(-1));
  EXPECT_THAT(values_of(sample::buffer(Type::u16, 5, Kind::value, -1)), Each(65535));
}

TEST(ValueContent, ValueThatTheTypeCannotHoldIsAnError) {
  EXPECT_THAT(content_error(sample::buffer(Type::u8, 5, Kind::value, 256)),
              AllOf(StartsWith("w.yaml:4:40: buffer b of u8 cannot hold 256")));
  EXPECT_EQ(content_error(sample::buffer(Type::s8, 5, Kind::value, -128)), "no error");
  EXPECT_NE(content_error(sample::buffer(Type::s8, 5, Kind::value, -129)), "no error");
  EXPECT_THAT(content_error(sample::buffer(Type::f16, 5, Kind::value, 70000)),
              HasSubstr("cannot hold 70000"));
  EXPECT_EQ(content_error(sample::buffer(Type::f16, 5, Kind::value, 65504)), "no error");
  EXPECT_EQ(content_error(sample::buffer(Type::bf16, 5, Kind::value, 70000)), "no error");
}

TEST(UniformContent, IntegersTakeEveryValueBelowHigh) {
  std::vector<int> count(6);
  for (const double value : values_of(sample::buffer(Type::s32, 6000, Kind::uniform, -2, 3))) {
    ASSERT_GE(value, -2);
    ASSERT_LT(value, 3);
    ++count[static_cast<std::size_t>(value + 2)];
  }
  // 1200 expected, standard deviation 31.
  for (std::size_t v = 0; v < 5; ++v) EXPECT_NEAR(count[v], 1200, 155);
}

TEST(UniformContent, FloatsStayBelowHighAfterRounding) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
    for (const double value : values_of(sample::buffer(type, 20000, Kind::uniform, 1, 2))) {
      ASSERT_GE(value, 1);
      ASSERT_LT(value, 2) << element_type_name(type);
    }
  }
}

TEST(UniformContent, FloatsAreTheNumbersOfDoublesRounded) {
  // In the last range half of the numbers round up to `high`, and become `low`.
  const std::pair<double, double> ranges[] = {{0, 1}, {-3.7, 5.1}, {1, 1 + 0x1p-23}};
  for (const auto& [low, high] : ranges) {
    const auto floats = values_of(sample::buffer(Type::f32, 5003, Kind::uniform, low, high));
    auto expected = values_of(sample::buffer(Type::f64, 5003, Kind::uniform, low, high));
    for (double& value : expected) {
      value = static_cast<float>(value);
      if (value >= high) value = static_cast<float>(low);
    }
    EXPECT_EQ(floats, expected);
  }
}

TEST(UniformContent, MeanAndSpreadAreThoseOfTheDistribution) {
  const std::vector<double> values =
      values_of(sample::buffer(Type::f64, 20000, Kind::uniform, -1, 1));
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  EXPECT_NEAR(sum / 20000, 0, 0.02);            // standard deviation 0.0041
  EXPECT_NEAR(squares / 20000, 1.0 / 3, 0.01);  // standard deviation 0.0021
}

TEST(UniformContent, WholeRangeOfATypeIsPossible) {
  EXPECT_EQ(content_error(sample::buffer(Type::u8, 5, Kind::uniform, 0, 256)), "no error");
  EXPECT_THAT(content_error(sample::buffer(Type::u8, 5, Kind::uniform, 0, 257)),
              HasSubstr("cannot hold 256"));
}

TEST(UniformContent, EmptyRangeIsAnError) {
  EXPECT_THAT(content_error(sample::buffer(Type::f32, 5, Kind::uniform, 1, 1)),
              AllOf(StartsWith("w.yaml:4:40: "), HasSubstr("low < high")));
}

TEST(UniformContent, FractionalBoundsOfIntegersAreAnError) {
  EXPECT_THAT(content_error(sample::buffer(Type::u32, 5, Kind::uniform, 0, 1.5)),
              HasSubstr("whole numbers"));
}

/// Share of values below x of the standard normal distribution.
double normal_share(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

TEST(NormalContent, SharesAreThoseOfTheDistribution) {
  constexpr int count = 200000;
  std::vector<double> values = values_of(sample::buffer(Type::f64, count, Kind::normal, 0, 1));
  std::sort(values.begin(), values.end());
  for (const double x : {-4.0, -3.0, -2.0, -1.0, -0.1, 0.0, 0.5, 1.5, 2.5, 3.5}) {
    const double below =
        static_cast<double>(std::lower_bound(values.begin(), values.end(), x) - values.begin());
    const double expected = normal_share(x) * count;
    const double deviation = std::sqrt(expected * (1 - normal_share(x)));
    EXPECT_NEAR(below, expected, 4 * deviation + 1) << "below " << x;
  }
}

TEST(NormalContent, ValueIsTheQuantileOfItsRandomNumber) {
  const std::vector<double> values =
      values_of(sample::buffer(Type::f64, 100000, Kind::normal, 0, 1));
  RandomNumbers numbers(1, ContentPurpose::normal);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = (static_cast<double>(numbers.at(i) >> 12) + 0.5) * 0x1.0p-52;
    const double expected = std::min(p, 1 - p);
    ASSERT_NEAR(normal_share(-std::fabs(values[i])) / expected, 1, 1e-5) << values[i];
    ASSERT_EQ(values[i] < 0, p < 0.5);
  }
}

TEST(NormalContent, MeanAndDeviationShiftAndScale) {
  const std::vector<double> standard = values_of(sample::buffer(Type::f64, 50, Kind::normal, 0, 1));
  const std::vector<double> moved = values_of(sample::buffer(Type::f64, 50, Kind::normal, 3, 0.5));
  for (std::size_t i = 0; i < standard.size(); ++i) EXPECT_EQ(moved[i], 3 + 0.5 * standard[i]);
}

TEST(NormalContent, IntegersAreRounded) {
  const std::vector<double> real = values_of(sample::buffer(Type::f64, 50, Kind::normal, 10, 3));
  const std::vector<double> whole = values_of(sample::buffer(Type::s32, 50, Kind::normal, 10, 3));
  for (std::size_t i = 0; i < real.size(); ++i) EXPECT_EQ(whole[i], std::floor(real[i] + 0.5));
}

TEST(NormalContent, NegativeDeviationIsAnError) {
  EXPECT_THAT(content_error(sample::buffer(Type::f32, 5, Kind::normal, 0, -1)),
              StartsWith("w.yaml:4:40: "));
}

TEST(PermutationContent, HoldsEveryNumberOnce) {
  for (const std::uint64_t count : {1, 2, 3, 5, 64, 100, 1025}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      std::vector<double> values =
          values_of(sample::buffer(Type::u32, count, Kind::permutation, 0, 0, seed));
      std::sort(values.begin(), values.end());
      for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(values[i], i) << count;
    }
  }
}

TEST(PermutationContent, MovesNearlyEveryElement) {
  const std::vector<double> values = values_of(sample::buffer(Type::u32, 1000, Kind::permutation));
  int fixed = 0, neighbours = 0;
  for (std::size_t i = 0; i < values.size(); ++i) fixed += values[i] == static_cast<double>(i);
  for (std::size_t i = 1; i < values.size(); ++i) neighbours += values[i] == values[i - 1] + 1;
  EXPECT_LT(fixed, 10);
  EXPECT_LT(neighbours, 10);
}

TEST(PermutationContent, TypeMustHoldTheLargestNumber) {
  EXPECT_EQ(content_error(sample::buffer(Type::u8, 256, Kind::permutation)), "no error");
  EXPECT_THAT(content_error(sample::buffer(Type::u8, 257, Kind::permutation)),
              HasSubstr("cannot hold 256"));
}

// Values that a change of any generator would change: they are part of what a seed means.
TEST(RandomContent, SeedsKeepTheirMeaning) {
  EXPECT_THAT(values_of(sample::buffer(Type::u32, 4, Kind::uniform, 0, 1000)),
              ElementsAre(827, 989, 33, 158));
  EXPECT_THAT(values_of(sample::buffer(Type::f64, 2, Kind::normal, 0, 1)),
              ElementsAre(0x1.50e8b7d77de3cp-3, 0x1.caae96327f4ffp-1));
  EXPECT_THAT(values_of(sample::buffer(Type::u32, 5, Kind::permutation)),
              ElementsAre(3, 0, 1, 4, 2));
}

}  // namespace
}  // namespace lockstep::numbers_test
