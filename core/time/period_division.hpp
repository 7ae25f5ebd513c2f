#pragma once

#include <bit>
#include <cstdint>

namespace lockstep {

/// Division of times by a period, in whole numbers.  It multiplies by a rounded reciprocal: a
/// division of this computer takes 20 to 90 of its cycles before Ice Lake and Zen 3, and a request
/// needs some ten of them.
///
/// With a period p of at most 2^l and M = floor(2^(63 + l) / p) + 1, the product of M and n exceeds
/// n * 2^(63 + l) / p by at most n, which is less than 2^63.  So the quotient is exact from 0 to
/// 2^63 - 1.
class PeriodDivision {
 public:
  /// Precondition: period > 0.
  constexpr explicit PeriodDivision(std::int64_t period) : period_(period) {
    if (period == 1) return;
    const auto p = static_cast<std::uint64_t>(period);
    const auto l = static_cast<unsigned>(std::bit_width(p - 1));
    shift_ = static_cast<std::uint8_t>(l - 1);
    reciprocal_ = static_cast<std::uint64_t>((Wide{1} << (63 + l)) / p + 1);
    exact_ = ~std::uint64_t{0} >> 1;
  }

  /// Returns dividend / period, rounded towards zero.
  constexpr std::int64_t operator()(std::int64_t dividend) const {
    const auto n = static_cast<std::uint64_t>(dividend);
    if (n > exact_) [[unlikely]]
      return dividend / period_;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(Wide{n} * reciprocal_ >> 64) >>
                                     shift_);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::int64_t period_;
  std::uint64_t reciprocal_ = 0;
  std::uint64_t exact_ = 0;  ///< largest dividend for the reciprocal
  std::uint8_t shift_ = 0;
};

}  // namespace lockstep
