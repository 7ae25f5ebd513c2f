/// Conversions of one lane, decided at run time, for the cases that convert.cc leaves out (narrow
/// and wide registers, saturation, directed rounding, halves to integers).
#pragma once

#include "models/isa/semantics/half.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

/// Types of a cvt, packed into Instruction::offset by bind_semantics.
struct ConversionTypes {
  Type from, to, to_register;
};
LOCKSTEP_INLINE ConversionTypes conversion_types(const Instruction& instruction) {
  const u32 packed = static_cast<u32>(instruction.offset);
  return {static_cast<Type>(packed & 0xff), static_cast<Type>(packed >> 8 & 0xff),
          static_cast<Type>(packed >> 16)};
}

/// Returns the sign or zero extension of the low bits.
inline u64 extended(u64 bits, Type type) {
  const unsigned unused = 64 - 8 * bytes_of(type);
  return is_signed(type) ? static_cast<u64>(static_cast<s64>(bits << unused) >> unused)
                         : bits << unused >> unused;
}

LOCKSTEP_INLINE double to_integral(double value, Rounding mode) {
  switch (mode) {
    case Rounding::rzi:
    case Rounding::rz:
      return __builtin_trunc(value);
    case Rounding::rmi:
    case Rounding::rm:
      return __builtin_floor(value);
    case Rounding::rpi:
    case Rounding::rp:
      return __builtin_ceil(value);
    default:
      return __builtin_rint(value);
  }
}

/// Returns the integer: values outside of the range become its ends; NaN becomes zero or, with a
/// 64-bit type, the top bit alone (PTX ISA, "cvt").
inline u64 integer_of(double integral, Type to, bool wide_source) {
  const unsigned width = 8 * bytes_of(to);
  const u64 top = u64{1} << (width - 1);
  if (integral != integral) return wide_source || width == 64 ? top : 0;
  if (is_signed(to)) {
    const double limit = static_cast<double>(top);
    if (integral >= limit) return top - 1;
    if (integral < -limit) return u64{0} - top;
    return static_cast<u64>(static_cast<s64>(integral));
  }
  if (integral >= static_cast<double>(top) * 2) return top | (top - 1);
  return integral > 0 ? static_cast<u64>(integral) : 0;
}
inline u64 saturated_integer(u64 value, Type from, Type to) {
  const unsigned width = 8 * bytes_of(to);
  const u64 top = u64{1} << (width - 1);
  const u64 largest = is_signed(to) ? top - 1 : top | (top - 1);
  const bool negative = is_signed(from) && static_cast<s64>(value) < 0;
  if (negative) {
    if (!is_signed(to)) return 0;
    const s64 least = -static_cast<s64>(top - 1) - 1;
    return static_cast<s64>(value) < least ? static_cast<u64>(least) : value;
  }
  return value > largest ? largest : value;
}

/// Returns the bits, in a format, of a double that is exact or rounded to odd.
inline u64 float_bits(double value, Type to, Direction d) {
  switch (to) {
    case Type::f16:
      return narrow_half<F16>(value, d);
    case Type::bf16:
      return narrow_half<BF16>(value, d);
    case Type::f32:
      return narrow<8, 23>(value, d);
    case Type::b32:  // tf32: an f32 with ten bits of mantissa
      return u64{narrow<8, 10>(value, d)} << 13;
    default:
      return value != value ? canonical_nan64 : bits_of(value);
  }
}
inline double float_value(u64 bits, Type from) {
  switch (from) {
    case Type::f16:
      return widen<F16>(static_cast<u32>(bits));
    case Type::bf16:
      return widen<BF16>(static_cast<u32>(bits));
    case Type::f32:
      return float_of(static_cast<u32>(bits));
    default:
      return double_of(bits);
  }
}
inline u64 float_of_integer(u64 value, Type from, Type to, Direction d) {
  const bool negative = is_signed(from) && static_cast<s64>(value) < 0;
  u64 magnitude = negative ? u64{0} - value : value;
  if (to == Type::f64) return bits_of(pack(negative, 0, magnitude, d));
  if (magnitude >> 53 != 0)  // round to odd: keep 53 bits
    magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) != 0 ? 1 : 0)) << 11;
  const double exact = static_cast<double>(magnitude);
  return float_bits(negative ? -exact : exact, to, d);
}

/// Clamps a value that goes to a float: .sat to [0, 1] with NaN as +0, .relu to zero or more.
LOCKSTEP_INLINE double limited(double value, bool saturate, bool relu) {
  if (saturate) {
    const double low = value > 0 ? value : 0.0;
    return low < 1 ? low : 1.0;
  }
  return relu && !(value > 0) && value == value ? 0.0 : value;
}

inline u64 convert_float(double value, Type from, Type to, const Instruction& instruction) {
  const auto mode = static_cast<Rounding>(instruction.detail & detail_bits::rounding_mask);
  if (!is_float(to) && to != Type::b32)
    return integer_of(to_integral(value, mode), to, from == Type::f64);
  if (mode >= Rounding::rni) value = to_integral(value, mode);
  value = limited(value, (instruction.detail & detail_bits::saturate) != 0,
                  (instruction.detail & detail_bits::relu) != 0);
  return float_bits(value, to, direction_of(mode));
}

inline u64 convert_lane(u64 lane, ConversionTypes types, const Instruction& instruction) {
  const bool saturate = (instruction.detail & detail_bits::saturate) != 0;
  const bool flush = (instruction.detail & detail_bits::flush) != 0;
  u64 converted = 0;
  if (is_float(types.from)) {
    if (flush && types.from == Type::f32) lane = flushed(static_cast<u32>(lane));
    converted = convert_float(float_value(lane, types.from), types.from, types.to, instruction);
  } else {
    const u64 value = extended(lane, types.from);
    if (!is_float(types.to)) {
      converted = saturate ? saturated_integer(value, types.from, types.to) : value;
    } else {
      converted = float_of_integer(value, types.from, types.to, direction_of(instruction));
      if (saturate)
        converted = float_bits(limited(float_value(converted, types.to), true, false), types.to,
                               Direction{});
    }
  }
  if (is_float(types.to))
    return flush && types.to == Type::f32 ? flushed(static_cast<u32>(converted)) : converted;
  // Extends to a wider register by the sign of the type; within a lane always with zeros.
  return extended(extended(converted, types.to), as_unsigned(as_bits(types.to_register)));
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
