#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/random/fixed_log.hpp"

namespace lockstep::phold {

/// Exponentially distributed numbers of mean 1 in a dozen integer instructions: -ln(u) for
/// u = (bits + 1/2) / 2^32, as fixed-point numbers with 32 fraction bits.
///
/// The logarithm of the leading digits comes from a table, straight lines lie between its entries:
/// the error is below 2e-6.
class QuickExponential {
 public:
  QuickExponential() {
    for (std::size_t i = 0; i <= pieces; ++i)
      logarithms_[i] = static_cast<std::uint32_t>(
          std::lround(fixed_log(1.0 + static_cast<double>(i) / pieces) * 0x1.0p32));
  }

  std::uint64_t operator()(std::uint32_t bits) const {
    // u = m * 2^(exponent - 33) with m in [1, 2), whose leading one is the top bit of `mantissa`.
    const std::uint64_t odd = 2 * std::uint64_t{bits} + 1;
    const auto zeros = static_cast<unsigned>(std::countl_zero(odd));
    const std::uint64_t mantissa = odd << zeros;
    const std::uint64_t piece = (mantissa >> 55) & (pieces - 1);
    const std::uint64_t along = (mantissa >> 23) & 0xffffffff;
    const std::uint64_t low = logarithms_[piece], high = logarithms_[piece + 1];
    const std::uint64_t exponent = 63 - zeros;
    return (33 - exponent) * logarithms_[pieces] - (low + ((high - low) * along >> 32));
  }

 private:
  static constexpr std::size_t pieces = 256;
  std::array<std::uint32_t, pieces + 1> logarithms_;
};

inline const QuickExponential quick_exponential;

}  // namespace lockstep::phold
