/// A period divides times as a division of this computer does.
#include "core/time/period_division.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/random/random.hpp"

namespace lockstep::test::period_division_test {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

void expect_exact(std::int64_t dividend, std::int64_t period) {
  ASSERT_EQ(PeriodDivision(period)(dividend), dividend / period) << dividend << " / " << period;
}

/// Around multiples of the period a quotient that is off by a little shows.
void expect_exact_around(std::int64_t multiple, std::int64_t period) {
  const std::int64_t at = multiple - multiple % period;
  for (std::int64_t near = -2; near <= 2; ++near)
    if (at <= most - 2) expect_exact(at + near, period);
}

TEST(PeriodDivision, IsExactAtTheEndsOfEveryRange) {
  for (int bits = 0; bits < 62; ++bits)
    for (std::int64_t near = -1; near <= 1; ++near) {
      const std::int64_t period = (std::int64_t{1} << bits) + near;
      if (period < 1) continue;
      for (const std::int64_t dividend : {std::int64_t{0}, std::int64_t{1}, period - 1, period,
                                          period + 1, most - 1, most, -1 - period, -period})
        expect_exact(dividend, period);
    }
}

TEST(PeriodDivision, IsExactAroundMultiplesOfClockPeriods) {
  Random random(3, ComponentId{0}, 0);
  const auto any = [&](unsigned most_bits) {
    return static_cast<std::int64_t>(
        random.below(std::uint64_t{1} << (1 + random.below(most_bits))));
  };
  for (const std::int64_t period : {1, 2, 3, 689'655, 724'638, 1'000'000, 1'176'471, 1'000'000'000})
    for (int i = 0; i < 2000; ++i) expect_exact_around(any(62), period);
  for (int i = 0; i < 20000; ++i) expect_exact_around(any(62), 1 + any(40));
}

}  // namespace
}  // namespace lockstep::test::period_division_test
