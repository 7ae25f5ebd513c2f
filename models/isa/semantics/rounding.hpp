/// Correct rounding in every mode, without ever changing the processor's rounding mode.
///
/// f32 and narrower: the operation is done in double and rounded *to odd* (an inexact result gets
/// an odd last bit), from which any narrower format rounds correctly in any mode, since a double
/// has at least two bits more (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
/// proved algorithms using rounding to odd", 2008).  f64: 128-bit integers.
#pragma once

#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr u32 canonical_nan32 = 0x7fffffff;
constexpr u64 canonical_nan64 = 0x7ff8000000000000;

/// A rounding mode as what is added before truncation.
struct Direction {
  bool nearest = true, ties_away = false;
  /// true: magnitudes of positive, or negative, numbers are rounded up.
  bool up_positive = false, up_negative = false;
};
LOCKSTEP_INLINE Direction direction_of(Rounding mode) {
  Direction d;
  d.nearest = mode == Rounding::none || mode == Rounding::rn || mode == Rounding::rni ||
              mode == Rounding::rna;
  d.ties_away = mode == Rounding::rna;
  d.up_positive = mode == Rounding::rp || mode == Rounding::rpi;
  d.up_negative = mode == Rounding::rm || mode == Rounding::rmi;
  return d;
}
LOCKSTEP_INLINE Direction direction_of(const Instruction& instruction) {
  return direction_of(static_cast<Rounding>(instruction.detail & detail_bits::rounding_mask));
}
LOCKSTEP_INLINE bool grows(Direction d, bool negative) {
  return negative ? d.up_negative : d.up_positive;
}

/// Rounds to a format of `E` exponent and `M` mantissa bits; NaN becomes the canonical one
/// (exponent and mantissa all ones).
///
/// Adding and subtracting 2^52 units of the last place rounds to nearest; the directed modes then
/// step back or on by one.  There are no shifts by variables, so the code vectorises.
template <unsigned E, unsigned M>
LOCKSTEP_INLINE u32 narrow(double value, Direction d) {
  constexpr s64 bias = (1 << (E - 1)) - 1, least = 1024 - bias, most = 1025 + bias;
  constexpr u64 infinity = u64{(1U << E) - 1} << M, sign_bit = u64{1} << 63;
  constexpr double beyond = __builtin_bit_cast(double, u64{1024 + bias} << 52);
  constexpr double least_normal = __builtin_bit_cast(double, u64{least} << 52);
  constexpr u64 subnormal_unit = u64{least + 52 - M} << 52;  // times 2^52
  const u64 bits = bits_of(value), sign = bits & sign_bit;
  const double magnitude = double_of(bits & ~sign_bit);
  const s64 exponent = static_cast<s64>(bits >> 52 & 0x7ff);
  const s64 low = exponent > least ? exponent : least, within = low < most ? low : most;
  const double unit = double_of(static_cast<u64>(within - M) << 52);
  const double shift = double_of(static_cast<u64>(within - M + 52) << 52);
  double rounded = (magnitude + shift) - shift;
  if (!d.nearest) {
    const double below = rounded > magnitude ? rounded - unit : rounded;
    const double above = below < magnitude ? below + unit : below;
    rounded = (sign != 0 ? d.up_negative : d.up_positive) ? above : below;
  } else if (d.ties_away) {
    rounded = magnitude - rounded == 0.5 * unit ? rounded + unit : rounded;
  }
  const u64 normal = (bits_of(rounded) >> (52 - M)) - (u64{1023 - bias} << M);
  const u64 subnormal = bits_of(rounded + double_of(subnormal_unit)) - subnormal_unit;
  const u64 finite = rounded < least_normal ? subnormal : normal;
  const bool to_infinity = d.nearest || (sign != 0 ? d.up_negative : d.up_positive);
  const u64 large = to_infinity || exponent == 0x7ff ? infinity : infinity - 1;
  const u64 number = (rounded >= beyond ? large : finite) | sign >> (63 - E - M);
  return static_cast<u32>(value != value ? (u64{1} << (E + M)) - 1 : number);
}

/// Moves an inexact `value` to its odd neighbour on the side of the error.
LOCKSTEP_INLINE double to_odd(double value, double error) {
  const u64 bits = bits_of(value);
  const bool inexact = error > 0 || error < 0;
  const bool outwards = (error > 0) == (value > 0);
  const u64 moved = outwards ? bits + 1 : bits - 1;
  return double_of(inexact && (bits & 1) == 0 ? moved : bits);
}
/// Returns a + b rounded to odd (error by Knuth's TwoSum).
LOCKSTEP_INLINE double odd_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return to_odd(sum, (a - (sum - part)) + (b - part));
}
/// An exact zero sum is -0 when rounding down, unless both terms are +0.
LOCKSTEP_INLINE double signed_zero(double sum, double a, double b, Direction d) {
  const u64 sign = (bits_of(a) | bits_of(b)) & u64{1} << 63;
  return sum == 0 && d.up_negative ? double_of(sign) : sum;
}
/// Returns the upper of two halves of 26 bits (Veltkamp's splitting).
LOCKSTEP_INLINE double upper_half(double a) {
  const double scaled = a * 134217729.0;
  return scaled - (scaled - a);
}
/// Returns a / b, or the square root, of doubles that came from f32, rounded to odd.
LOCKSTEP_INLINE double odd_quotient(double a, double b) {
  const double quotient = a / b, high = upper_half(quotient), low = quotient - high;
  const double rest = (a - high * b) - low * b;
  return to_odd(quotient, b > 0 ? rest : -rest);
}
LOCKSTEP_INLINE double odd_root(double a) {
  const double root = __builtin_sqrt(a), high = upper_half(root), low = root - high;
  return to_odd(root, ((a - high * high) - 2 * high * low) - low * low);
}

/// Fused multiply-add of f32: by hardware where the level has it, otherwise through double.
LOCKSTEP_INLINE float fused(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<float>(odd_sum(static_cast<double>(a) * b, c));
#endif
}

// f64: sign, exponent and a significand of up to 128 bits; value = significand * 2^exponent.
struct Unpacked {
  bool negative;
  int exponent;
  u64 significand;  ///< 53 bits, zero for zero
};
inline Unpacked unpack(double value) {
  const u64 bits = bits_of(value);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  const u64 mantissa = bits & ((u64{1} << 52) - 1);
  return {bits >> 63 != 0, (exponent == 0 ? 1 : exponent) - 1075,
          exponent == 0 ? mantissa : mantissa | u64{1} << 52};
}
inline int top_bit(u128 value) {
  const u64 high = static_cast<u64>(value >> 64);
  return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(static_cast<u64>(value));
}
inline u128 shift_right_sticky(u128 value, int shift) {
  if (shift <= 0) return value;
  if (shift >= 128) return value != 0 ? 1 : 0;
  return value >> shift | ((value & ((u128{1} << shift) - 1)) != 0 ? 1 : 0);
}
/// The last bit of the significand may be sticky if there are at least 56 bits.
inline double pack(bool negative, int exponent, u128 significand, Direction d) {
  if (significand == 0) return double_of(u64{negative} << 63);
  int shift = top_bit(significand) - 52;  // shift that keeps 53 bits, fewer when subnormal
  if (exponent + shift < -1074) shift = -1074 - exponent;
  if (shift < 3) {  // makes room for rounding bits
    significand <<= 3 - shift;
    exponent -= 3 - shift;
    shift = 3;
  }
  if (shift > 125) {
    significand = shift_right_sticky(significand, shift - 125);
    exponent += shift - 125;
    shift = 125;
  }
  u64 kept = static_cast<u64>(significand >> shift);
  const u128 lost = significand & ((u128{1} << shift) - 1), half = u128{1} << (shift - 1);
  const bool up = d.nearest ? lost > half || (lost == half && (d.ties_away || (kept & 1) != 0))
                            : lost != 0 && grows(d, negative);
  kept += up ? 1 : 0;
  exponent += shift;
  u64 bits = kept;  // subnormal
  if (kept >> 52 != 0) bits = (static_cast<u64>(exponent + 1074) << 52) + kept;
  constexpr u64 infinity = u64{0x7ff} << 52;
  if (exponent + 1074 >= 0x7ff || bits >= infinity)
    bits = d.nearest || grows(d, negative) ? infinity : infinity - 1;
  return double_of(bits | u64{negative} << 63);
}

/// Returns a * b + c, rounded once; finite arguments.
inline double exact_fma(double a, double b, double c, Direction d) {
  const Unpacked x = unpack(a), y = unpack(b), z = unpack(c);
  const bool negative = x.negative != y.negative;
  u128 product = u128{x.significand} * y.significand, term = z.significand;
  if (product == 0 && term == 0)
    return double_of(u64{negative == z.negative ? negative : d.up_negative} << 63);
  if (product == 0) return c;
  int exponent = x.exponent + y.exponent;
  if (term == 0) return pack(negative, exponent, product, d);
  // Both are shifted so that their top bit is at 125, then the smaller one is shifted down; its
  // lost bits are sticky.
  const int lift = 125 - top_bit(product), lift_term = 125 - top_bit(term);
  product <<= lift;
  term <<= lift_term;
  exponent -= lift;
  const int exponent_term = z.exponent - lift_term;
  if (exponent >= exponent_term) {
    term = shift_right_sticky(term, exponent - exponent_term);
  } else {
    product = shift_right_sticky(product, exponent_term - exponent);
    exponent = exponent_term;
  }
  if (negative == z.negative) return pack(negative, exponent, product + term, d);
  if (product == term) return double_of(u64{d.up_negative} << 63);
  return product > term ? pack(negative, exponent, product - term, d)
                        : pack(z.negative, exponent, term - product, d);
}
inline double exact_quotient(double a, double b, Direction d) {
  const Unpacked x = unpack(a), y = unpack(b);
  const bool negative = x.negative != y.negative;
  if (x.significand == 0) return double_of(u64{negative} << 63);
  const int lift_a = 126 - top_bit(x.significand), lift_b = 52 - top_bit(y.significand);
  const u128 dividend = u128{x.significand} << lift_a;
  const u64 divisor = y.significand << lift_b;
  const u128 quotient = dividend / divisor;
  const bool inexact = quotient * divisor != dividend;
  return pack(negative, x.exponent - lift_a - y.exponent + lift_b, quotient | (inexact ? 1 : 0), d);
}
inline double exact_root(double a, Direction d) {
  const Unpacked x = unpack(a);
  if (x.significand == 0) return a;
  int lift = 124 - top_bit(x.significand);
  if (((x.exponent - lift) & 1) != 0) ++lift;
  u128 rest = u128{x.significand} << lift;
  u128 root = 0;
  for (u128 bit = u128{1} << 124; bit != 0; bit >>= 2) {  // goes digit by digit
    const bool fits = rest >= root + bit;
    if (fits) rest -= root + bit;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return pack(false, (x.exponent - lift) / 2, root | (rest != 0 ? 1 : 0), d);
}

LOCKSTEP_INLINE bool finite(double a) {
  return (bits_of(a) >> 52 & 0x7ff) != 0x7ff;
}

LOCKSTEP_INLINE double fused(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  if (!finite(a) || !finite(b)) return a * b + c;
  // An infinite or NaN c decides the result; the product may overflow alone.
  if (!finite(c)) return c;
  return exact_fma(a, b, c, Direction{});
#endif
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
