#pragma once

#include <bit>
#include <cstdint>

namespace lockstep {

/// Returns the natural logarithm of a positive normal number, relative error below 1e-14: a fixed
/// order of basic operations and no libm, so that every machine computes the same bits.
inline double fixed_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  constexpr std::uint64_t sqrt_half = 0x3FE6A09E667F3BCDull;
  const std::int64_t exponent = static_cast<std::int64_t>(bits - sqrt_half) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));
  // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716: nine terms of the odd series.
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  const double z2 = z * z;
  const double z4 = z2 * z2;
  const double low = (1.0 + z * (1.0 / 3)) + z2 * (1.0 / 5 + z * (1.0 / 7));
  const double high = (1.0 / 9 + z * (1.0 / 11)) + z2 * (1.0 / 13 + z * (1.0 / 15));
  const double series = low + z4 * (high + z4 * (1.0 / 17));
  return static_cast<double>(exponent) * 0.69314718055994530942 + 2.0 * s * series;
}

}  // namespace lockstep
