/// cvt and cvt.pack.
///
/// Source: PTX ISA 8.x, "cvt", "cvt.pack".  The common conversions are vector loops; the others go
/// lane by lane through conversion.hpp.
#include "models/isa/semantics/conversion.hpp"
#include "models/isa/semantics/families.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

template <class From, class To>
void general(const Instruction& instruction, WarpContext& context) {
  const ConversionTypes types = conversion_types(instruction);
  const From* a = source<From>(instruction, context, 0);
  for_active(destination<To>(instruction, context), context.active, [=, &instruction](unsigned i) {
    return static_cast<To>(convert_lane(a[i], types, instruction));
  });
}

/// Extension and truncation.
template <Type From, Type To>
void integer_to_integer(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<Lane<From>>(instruction, context, 0);
  for_lanes_staged(destination<Lane<To>>(instruction, context), context.active,
                   [=](unsigned i) { return put<To>(static_cast<Value<To>>(get<From>(a[i]))); });
}
template <Type To>
Execute pick_integer(Type from) {
  switch (from) {
    case Type::u8:
      return &integer_to_integer<Type::u8, To>;
    case Type::s8:
      return &integer_to_integer<Type::s8, To>;
    case Type::u16:
      return &integer_to_integer<Type::u16, To>;
    case Type::s16:
      return &integer_to_integer<Type::s16, To>;
    case Type::u32:
      return &integer_to_integer<Type::u32, To>;
    case Type::s32:
      return &integer_to_integer<Type::s32, To>;
    case Type::u64:
      return &integer_to_integer<Type::u64, To>;
    case Type::s64:
      return &integer_to_integer<Type::s64, To>;
    default:
      return nullptr;
  }
}

/// To nearest.
template <Type From, Type To>
void integer_to_float(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<Lane<From>>(instruction, context, 0);
  for_lanes_staged(destination<Lane<To>>(instruction, context), context.active,
                   [=](unsigned i) { return put<To>(static_cast<Value<To>>(get<From>(a[i]))); });
}
template <Type To>
Execute pick_integer_to_float(Type from) {
  switch (from) {
    case Type::u32:
      return &integer_to_float<Type::u32, To>;
    case Type::s32:
      return &integer_to_float<Type::s32, To>;
    case Type::u64:
      return &integer_to_float<Type::u64, To>;
    case Type::s64:
      return &integer_to_float<Type::s64, To>;
    default:
      return nullptr;
  }
}

/// Range ends are exact in double; the unsigned range is shifted onto the signed one, for which
/// there are vector conversions everywhere.
template <Type From, Type To, Rounding mode>
void float_to_word(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<Lane<From>>(instruction, context, 0);
  const bool flush = From == Type::f32 && (instruction.detail & detail_bits::flush) != 0;
  constexpr double least = is_signed(To) ? -0x1p31 : 0.0, most = least + 0x1.fffffffep31;
  constexpr double shift = is_signed(To) ? 0.0 : 0x1p31;
  constexpr double not_a_number = From != Type::f64 ? 0.0 : is_signed(To) ? -0x1p31 : 0x1p31;
  for_lanes_staged(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    double value;
    if constexpr (From == Type::f32)
      value = float_of(flush ? flushed(a[i]) : a[i]);
    else
      value = double_of(flush ? 0 : a[i]);
    const double integral = to_integral(value, mode);
    const double low = integral > least ? integral : least;
    const double within = low < most ? low : most;
    const double number = value != value ? not_a_number : within;
    const u32 word = static_cast<u32>(static_cast<s32>(number - shift));
    return is_signed(To) ? word : word ^ 0x80000000;
  });
}
template <Type From, Type To>
Execute pick_word(Rounding mode) {
  switch (mode) {
    case Rounding::rzi:
      return &float_to_word<From, To, Rounding::rzi>;
    case Rounding::rmi:
      return &float_to_word<From, To, Rounding::rmi>;
    case Rounding::rpi:
      return &float_to_word<From, To, Rounding::rpi>;
    default:
      return &float_to_word<From, To, Rounding::rni>;
  }
}

/// 64-bit integers: range ends as in integer_of, but without its branches.
template <Type From, Type To, Rounding mode>
void float_to_long(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<Lane<From>>(instruction, context, 0);
  const bool flush = From == Type::f32 && (instruction.detail & detail_bits::flush) != 0;
  for_lanes_staged(destination<u64>(instruction, context), context.active, [=](unsigned i) {
    double value;
    if constexpr (From == Type::f32)
      value = float_of(flush ? flushed(a[i]) : a[i]);
    else
      value = double_of(flush ? 0 : a[i]);
    constexpr u64 top = u64{1} << 63;
    const double integral = to_integral(value, mode);
    if constexpr (is_signed(To)) {
      const bool inside = integral >= -0x1p63 && integral < 0x1p63;
      const u64 number = static_cast<u64>(static_cast<s64>(inside ? integral : 0.0));
      return inside ? number : (integral > 0 ? top - 1 : top);
    } else {
      const bool upper = integral >= 0x1p63, inside = integral > 0 && integral < 0x1p64;
      const double lowered = upper ? integral - 0x1p63 : integral;
      const u64 number = static_cast<u64>(static_cast<s64>(inside ? lowered : 0.0));
      const u64 outside = integral != integral ? top : (integral > 0 ? ~u64{0} : 0);
      return inside ? number + (upper ? top : 0) : outside;
    }
  });
}
template <Type From, Type To>
Execute pick_long(Rounding mode) {
  switch (mode) {
    case Rounding::rzi:
      return &float_to_long<From, To, Rounding::rzi>;
    case Rounding::rmi:
      return &float_to_long<From, To, Rounding::rmi>;
    case Rounding::rpi:
      return &float_to_long<From, To, Rounding::rpi>;
    default:
      return &float_to_long<From, To, Rounding::rni>;
  }
}

/// Converts within one format: to an integral value, or only with flushing and saturation.
template <Rounding mode>
struct Integral {
  LOCKSTEP_INLINE static float apply(float a) { return static_cast<float>(to_integral(a, mode)); }
};
struct Same {
  LOCKSTEP_INLINE static float apply(float a) { return a; }
};
Execute select_float_to_itself(const SemanticKey& key) {
  switch (key.rounding) {
    case Rounding::rni:
      return pick_float<Integral<Rounding::rni>, 1>(key);
    case Rounding::rzi:
      return pick_float<Integral<Rounding::rzi>, 1>(key);
    case Rounding::rmi:
      return pick_float<Integral<Rounding::rmi>, 1>(key);
    case Rounding::rpi:
      return pick_float<Integral<Rounding::rpi>, 1>(key);
    default:
      return pick_float<Same, 1>(key);
  }
}

void float_to_double(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const bool flush = (instruction.detail & detail_bits::flush) != 0;
  for_lanes_staged(destination<u64>(instruction, context), context.active, [=](unsigned i) {
    const float value = float_of(flush ? flushed(a[i]) : a[i]);
    return value != value ? canonical_nan64 : bits_of(static_cast<double>(value));
  });
}
void double_to_float(const Instruction& instruction, WarpContext& context) {
  const u64* a = source<u64>(instruction, context, 0);
  const bool flush = (instruction.detail & detail_bits::flush) != 0;
  for_lanes_staged(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const float value = static_cast<float>(double_of(a[i]));
    const u32 bits = flush ? flushed(bits_of(value)) : bits_of(value);
    return value != value ? canonical_nan32 : bits;
  });
}
template <class Format>
void half_to_float(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  for_lanes(destination<u32>(instruction, context), context.active,
            [=](unsigned i) { return result<false, false>(widen<Format>(a[i])); });
}
/// Converts one f32 to a half, or two to a pair (the first one above).  `plain`: to nearest, no
/// modifiers.
template <class Format, bool pair, bool plain>
void float_to_half(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = pair ? source<u32>(instruction, context, 1) : a;
  const Direction d = plain ? Direction{} : direction_of(instruction);
  const bool flush = !plain && (instruction.detail & detail_bits::flush) != 0;
  const bool saturate = !plain && (instruction.detail & detail_bits::saturate) != 0;
  const bool relu = !plain && (instruction.detail & detail_bits::relu) != 0;
  const bool stays_finite = !plain && mode_of(instruction) == convert_finite;
  const double bound = stays_finite ? widen<Format>(Format::infinity - 1) : __builtin_inf();
  const auto half = [=](u32 bits) {
    const double value = limited(float_of(flush ? flushed(bits) : bits), saturate, relu);
    const double low = value < -bound ? -bound : value;
    return narrow_half<Format>(low > bound ? bound : low, d);
  };
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const u32 first = half(a[i]);
    return pair ? first << 16 | half(b[i]) : first;
  });
}

template <class Format, bool pair>
Execute pick_half(const SemanticKey& key) {
  const bool nearest = key.rounding == Rounding::none || key.rounding == Rounding::rn;
  const bool plain =
      nearest && !key.flush && !key.saturate && !key.relu && key.mode != convert_finite;
  return plain ? &float_to_half<Format, pair, true> : &float_to_half<Format, pair, false>;
}

/// cvt.pack.sat: a and b saturated to halves or bytes, above them the low part of c.
template <Type To, bool with_c>
void pack_saturated(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = with_c ? source<u32>(instruction, context, 2) : a;
  const Type from = conversion_types(instruction).from;
  constexpr unsigned bits = 8 * bytes_of(To);
  const auto part = [=](u32 lane) {
    return put<To>(static_cast<Value<To>>(saturated_integer(extended(lane, from), from, To)));
  };
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const u32 low = part(a[i]) << bits | part(b[i]);
    return bits == 16 ? low : (with_c ? c[i] << 16 | low : low);
  });
}
Execute select_pack(const SemanticKey& key) {
  if (as_unsigned(key.source_type) != Type::u32 || !key.saturate) return nullptr;
  const bool with_c = key.sources == 3;
  if (key.sources < 2) return nullptr;
  switch (key.type) {
    case Type::u16:
      return with_c ? nullptr : &pack_saturated<Type::u16, false>;
    case Type::s16:
      return with_c ? nullptr : &pack_saturated<Type::s16, false>;
    case Type::u8:
      return with_c ? &pack_saturated<Type::u8, true> : &pack_saturated<Type::u8, false>;
    case Type::s8:
      return with_c ? &pack_saturated<Type::s8, true> : &pack_saturated<Type::s8, false>;
    default:
      return nullptr;
  }
}

bool is_scalar_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}
bool is_integer(Type type) {
  return as_unsigned(type) >= Type::u8 && type <= Type::s64;
}

Execute pick_general(const SemanticKey& key) {
  const bool wide_from = bytes_of(key.source_register) == 8;
  if (bytes_of(key.destination_register) == 8)
    return wide_from ? &general<u64, u64> : &general<u32, u64>;
  return wide_from ? &general<u64, u32> : &general<u32, u32>;
}

Execute select_integers(Type from, Type to) {
  switch (as_unsigned(to)) {
    case Type::u8:
      return pick_integer<Type::u8>(from);
    case Type::u16:
      return pick_integer<Type::u16>(from);
    case Type::u32:
      return pick_integer<Type::u32>(from);
    default:
      return pick_integer<Type::u64>(from);
  }
}
template <Type From>
Execute select_float_to_integer(const SemanticKey& key) {
  switch (key.type) {
    case Type::s32:
      return pick_word<From, Type::s32>(key.rounding);
    case Type::u32:
      return pick_word<From, Type::u32>(key.rounding);
    case Type::s64:
      return pick_long<From, Type::s64>(key.rounding);
    case Type::u64:
      return pick_long<From, Type::u64>(key.rounding);
    default:
      return nullptr;
  }
}
Execute select_float_to_float(const SemanticKey& key, bool nearest) {
  const Type from = key.source_type, to = key.type;
  if (from == Type::f32 && to == Type::f16 && key.rounding < Rounding::rni)
    return pick_half<F16, false>(key);
  if (from == Type::f32 && to == Type::bf16 && key.rounding < Rounding::rni)
    return pick_half<BF16, false>(key);
  if (from == Type::f32 && to == Type::f32 && !key.relu) return select_float_to_itself(key);
  if (key.saturate || key.relu || !nearest) return nullptr;
  if (from == Type::f32 && to == Type::f64) return &float_to_double;
  if (from == Type::f64 && to == Type::f32) return &double_to_float;
  if (from == Type::f16 && to == Type::f32 && !key.flush) return &half_to_float<F16>;
  if (from == Type::bf16 && to == Type::f32 && !key.flush) return &half_to_float<BF16>;
  return nullptr;
}
/// Selects the vector loops: registers as wide as their types' lanes.
Execute select_common(const SemanticKey& key) {
  const Type from = key.source_type, to = key.type;
  const bool nearest = key.rounding == Rounding::none || key.rounding == Rounding::rn;
  if (is_integer(from) && is_integer(to)) return key.saturate ? nullptr : select_integers(from, to);
  if (is_integer(from)) {
    if (!nearest || key.saturate) return nullptr;
    if (to == Type::f32) return pick_integer_to_float<Type::f32>(from);
    return to == Type::f64 ? pick_integer_to_float<Type::f64>(from) : nullptr;
  }
  if (!is_integer(to)) return select_float_to_float(key, nearest);
  if (from == Type::f32) return select_float_to_integer<Type::f32>(key);
  return from == Type::f64 ? select_float_to_integer<Type::f64>(key) : nullptr;
}
bool fits(Type register_type, Type type) {
  return bytes_of(register_type) == bytes_of(type) ||
         (bytes_of(register_type) <= 4 && is_float(type));
}

Execute select_cvt(const SemanticKey& key) {
  const Type from = key.source_type, to = key.type;
  if (to == Type::f16x2 || to == Type::bf16x2) {
    if (from != Type::f32 || key.sources != 2) return nullptr;
    return to == Type::f16x2 ? pick_half<F16, true>(key) : pick_half<BF16, true>(key);
  }
  if (to == Type::b32) return from == Type::f32 ? pick_general(key) : nullptr;  // tf32
  if (!(is_integer(from) || is_scalar_float(from)) || !(is_integer(to) || is_scalar_float(to)))
    return nullptr;
  // Rounding to an integral value applies to results of the same format, and to integers.
  if (is_float(from) && is_float(to) && from != to && key.rounding >= Rounding::rni) return nullptr;
  // A narrow source is in the low bits of its lane in any register; a narrow result is extended to
  // the register.
  const bool plain = fits(key.destination_register, to) &&
                     (bytes_of(key.source_register) == 8) == (bytes_of(from) == 8);
  const Execute common = plain ? select_common(key) : nullptr;
  return common != nullptr ? common : pick_general(key);
}

}  // namespace

Execute select_convert(const SemanticKey& key) {
  if (key.opcode == Opcode::cvt) return select_cvt(key);
  if (key.opcode == Opcode::cvt_pack) return select_pack(key);
  return nullptr;
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
