/// Elementary functions in double by short polynomials in a fixed order: the same bits on every
/// computer, with errors far below the precision of f32 (relative 2^-30 or better where finite).
///
/// Only additions, multiplications and divisions, none of them fused.
#pragma once

#include "models/isa/semantics/rounding.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

/// Constant whose addition and subtraction round to an integer. The low bits of the sum are those
/// of the integer.
constexpr double to_integer = 0x1.8p52;

/// Returns 2^x for |x| <= 1000: 2^n by the exponent, and the rest (at most a half) by the series of
/// e^y.
LOCKSTEP_INLINE double power_of_two(double x) {
  const double shifted = x + to_integer, y = (x - (shifted - to_integer)) * 0x1.62e42fefa39efp-1;
  double sum = 1.0 / 362880;
  sum = sum * y + 1.0 / 40320;
  sum = sum * y + 1.0 / 5040;
  sum = sum * y + 1.0 / 720;
  sum = sum * y + 1.0 / 120;
  sum = sum * y + 1.0 / 24;
  sum = sum * y + 1.0 / 6;
  sum = sum * y + 0.5;
  sum = sum * y + 1.0;
  sum = sum * y + 1.0;
  return double_of(bits_of(sum) + (bits_of(shifted) << 52));
}
/// Returns e^x. Beyond the range every format that is asked for has overflowed or vanished.
LOCKSTEP_INLINE double exponential(double x) {
  const double low = x > -400.0 ? x : -400.0;
  const double value = power_of_two(low < 400.0 ? low : 400.0);
  return x != x ? x : value;
}

/// Returns log2 of a normal double or zero: the exponent, and the series of artanh for a mantissa
/// around one.
LOCKSTEP_INLINE double logarithm(double x) {
  const u64 bits = bits_of(x);
  const u64 mantissa = bits & ((u64{1} << 52) - 1);
  // A mantissa above the square root of two is halved.
  const u64 above = mantissa > 0x6a09e667f3bcd ? 1 : 0;
  const double m = double_of(mantissa | (u64{1023} - above) << 52);
  const double exponent = double_of(u64{0x433} << 52 | (bits >> 52 & 0x7ff)) - 0x1p52;
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double sum = 1.0 / 13;
  sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9;
  sum = sum * z + 1.0 / 7;
  sum = sum * z + 1.0 / 5;
  sum = sum * z + 1.0 / 3;
  sum = sum * z + 1.0;
  const double value =
      (exponent - 1023.0 + (above != 0 ? 1.0 : 0.0)) + s * sum * 0x1.71547652b82fep+1;  // 2 / ln 2
  const double infinity = double_of(u64{0x7ff} << 52);
  const double special = x == 0 ? -infinity : x > 0 ? x : double_of(canonical_nan64);
  return x > 0 && x < infinity ? value : special;
}

/// Returns sin (quarter = 0) or cos (quarter = 1): the argument is reduced by multiples of pi/2 in
/// three parts, of which the first two have 22 bits, so that their products with the multiple are
/// exact.
LOCKSTEP_INLINE double sine(double x, u64 quarter) {
  const double in_range = x < 0x1p31 && x > -0x1p31 ? x : 0.0;
  const double shifted = in_range * 0x1.45f306dc9c883p-1 + to_integer, k = shifted - to_integer;
  const double r = ((in_range - k * 0x1.921fbp0) - k * 0x1.5110bp-22) - k * 0x1.18469898cc517p-44;
  const double z = r * r;
  double s = 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  double c = 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = c * z - 0.5;
  const u64 quadrant = bits_of(shifted) + quarter;
  const double value = (quadrant & 1) != 0 ? 1.0 + c * z : r * (1.0 + s * z);
  const double turned = double_of(bits_of(value) ^ (quadrant & 2) << 62);
  return x - x != 0 ? double_of(canonical_nan64) : turned;  // infinity and NaN
}

/// Returns tanh: by e^2x, and near zero by its series.
LOCKSTEP_INLINE double hyperbolic_tangent(double x) {
  const double magnitude = x < 0 ? -x : x;
  const double within = magnitude < 40.0 ? magnitude : 40.0;
  const double e = power_of_two(within * 0x1.71547652b82fep+1);  // 2 / ln 2
  const double large = 1.0 - 2.0 / (e + 1.0);
  const double z = x * x;
  double sum = 62.0 / 2835;
  sum = sum * z - 17.0 / 315;
  sum = sum * z + 2.0 / 15;
  sum = sum * z - 1.0 / 3;
  const double small = x * (1.0 + sum * z);
  const double value = magnitude < 0.25 ? small : (x < 0 ? -large : large);
  return x != x ? x : value;
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
