/// Integer multiplication: low, high and wide products, multiply-add with carry, 24-bit and dot
/// products.
///
/// Source: PTX ISA 8.x, "Integer Arithmetic Instructions".
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr unsigned width(Type type) {
  return 8 * bytes_of(type);
}

template <Type T>
LOCKSTEP_INLINE Lane<T> low_product(Lane<T> a, Lane<T> b) {
  return static_cast<Value<as_unsigned(T)>>(a * b);
}
template <Type T>
LOCKSTEP_INLINE Lane<T> high_product(Lane<T> a, Lane<T> b) {
  if constexpr (width(T) == 64) {
    using Wide = std::conditional_t<is_signed(T), s128, u128>;
    return static_cast<u64>(Wide(get<T>(a)) * get<T>(b) >> 64);
  } else {
    using Wide = std::conditional_t<is_signed(T), s64, u64>;
    return put<T>(static_cast<Value<T>>(Wide(get<T>(a)) * Wide(get<T>(b)) >> width(T)));
  }
}

template <Type T>
struct Low {
  using L = Lane<T>;
  LOCKSTEP_INLINE static L apply(L a, L b) { return low_product<T>(a, b); }
};
template <Type T>
struct High {
  using L = Lane<T>;
  LOCKSTEP_INLINE static L apply(L a, L b) { return high_product<T>(a, b); }
};

template <Type T, template <Type> class Product>
void multiply(const Instruction& instruction, WarpContext& context) {
  using L = Lane<T>;
  const L* a = source<L>(instruction, context, 0);
  const L* b = source<L>(instruction, context, 1);
  for_lanes(destination<L>(instruction, context), context.active,
            [=](unsigned i) { return Product<T>::apply(a[i], b[i]); });
}
template <Type T, template <Type> class Product>
void multiply_add(const Instruction& instruction, WarpContext& context) {
  using L = Lane<T>;
  const L* a = source<L>(instruction, context, 0);
  const L* b = source<L>(instruction, context, 1);
  const L* c = source<L>(instruction, context, 2);
  for_lanes(destination<L>(instruction, context), context.active, [=](unsigned i) {
    return static_cast<L>(static_cast<Value<as_unsigned(T)>>(Product<T>::apply(a[i], b[i]) + c[i]));
  });
}

// clang-format off
template <Type T> struct MulLow { static constexpr Execute run = &multiply<T, Low>; };
template <Type T> struct MulHigh { static constexpr Execute run = &multiply<T, High>; };
template <Type T> struct MadLow { static constexpr Execute run = &multiply_add<T, Low>; };
template <Type T> struct MadHigh { static constexpr Execute run = &multiply_add<T, High>; };
// clang-format on

/// Both factors and the product have their own widths: stage the result, rows may overlap.
template <Type T>
struct MulWide {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    constexpr Type wide = doubled(T);
    const L* a = source<L>(instruction, context, 0);
    const L* b = source<L>(instruction, context, 1);
    for_lanes_staged(destination<Lane<wide>>(instruction, context), context.active,
                     [=](unsigned i) {
                       return put<wide>(Value<wide>(get<T>(a[i])) * Value<wide>(get<T>(b[i])));
                     });
  }
};
template <Type T>
struct MadWide {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    constexpr Type wide = doubled(T);
    using U = Lane<wide>;
    const L* a = source<L>(instruction, context, 0);
    const L* b = source<L>(instruction, context, 1);
    const U* c = source<U>(instruction, context, 2);
    for_lanes_staged(destination<U>(instruction, context), context.active, [=](unsigned i) {
      return put<wide>(Value<wide>(get<T>(a[i])) * Value<wide>(get<T>(b[i]))) + c[i];
    });
  }
};

/// mad.cc, madc: the product's half plus c, with the condition code.
template <Type T, template <Type> class Product, bool carry_in>
void multiply_add_carry(const Instruction& instruction, WarpContext& context) {
  using L = Lane<T>;
  const L* a = source<L>(instruction, context, 0);
  const L* b = source<L>(instruction, context, 1);
  const L* c = source<L>(instruction, context, 2);
  const L in = carry_in ? read_predicate(instruction, context, 0) : 0;
  alignas(64) L product[32], result[32];
  LOCKSTEP_LANES {
    product[i] = Product<T>::apply(a[i], b[i]);
    result[i] = product[i] + c[i] + ((in & lane_bits<L>.bit[i]) != 0 ? 1 : 0);
  }
  const u32 out = lanes_where<L>([&](unsigned i) {
    return ((product[i] & c[i]) | ((product[i] | c[i]) & ~result[i])) >> (width(T) - 1) != 0;
  });
  store(destination<L>(instruction, context), result, context.active);
  write_predicate(instruction, context, 0, out);
}
template <Type T>
struct MadLowCarry {
  static constexpr Execute run = &multiply_add_carry<T, Low, false>;
  static constexpr Execute run_in = &multiply_add_carry<T, Low, true>;
};
template <Type T>
struct MadHighCarry {
  static constexpr Execute run = &multiply_add_carry<T, High, false>;
  static constexpr Execute run_in = &multiply_add_carry<T, High, true>;
};
template <template <Type> class Kernel>
Execute pick_carry(Type type, bool carry_in) {
  switch (type) {
    case Type::u32:
      return carry_in ? Kernel<Type::u32>::run_in : Kernel<Type::u32>::run;
    case Type::s32:
      return carry_in ? Kernel<Type::s32>::run_in : Kernel<Type::s32>::run;
    case Type::u64:
      return carry_in ? Kernel<Type::u64>::run_in : Kernel<Type::u64>::run;
    case Type::s64:
      return carry_in ? Kernel<Type::s64>::run_in : Kernel<Type::s64>::run;
    default:
      return nullptr;
  }
}

LOCKSTEP_INLINE s32 clamped(s64 value) {
  return static_cast<s32>(value > 0x7fffffff ? 0x7fffffff
                                             : (value < -0x80000000LL ? -0x80000000LL : value));
}
struct MadHighSaturating {
  LOCKSTEP_INLINE static s32 apply(s32 a, s32 b, s32 c) { return clamped((s64{a} * b >> 32) + c); }
};

/// 24-bit products have 48 bits; .hi takes bits 16 to 47.
template <class V>
LOCKSTEP_INLINE s64 product24(V a, V b) {
  if constexpr (std::is_signed_v<V>)
    return (s64{static_cast<s32>(static_cast<u32>(a) << 8)} >> 8) *
           (s64{static_cast<s32>(static_cast<u32>(b) << 8)} >> 8);
  else
    return static_cast<s64>(u64{a & 0xffffff} * (b & 0xffffff));
}
// clang-format off
struct Mul24Low { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return static_cast<V>(product24(a, b)); } };
struct Mul24High { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return static_cast<V>(product24(a, b) >> 16); } };
struct Mad24Low { template <class V> LOCKSTEP_INLINE static V apply(V a, V b, V c) { return static_cast<V>(product24(a, b) + c); } };
struct Mad24High { template <class V> LOCKSTEP_INLINE static V apply(V a, V b, V c) { return static_cast<V>((product24(a, b) >> 16) + c); } };
struct Mad24Saturating { LOCKSTEP_INLINE static s32 apply(s32 a, s32 b, s32 c) { return clamped(static_cast<s32>(product24(a, b) >> 16) + s64{c}); } };
// clang-format on

/// Four products of bytes; sums wrap.
template <bool signed_a, bool signed_b>
void dot4(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  const auto byte = [](u32 word, unsigned k, bool is_signed) {
    const u32 part = word >> (8 * k);
    return is_signed ? s32{static_cast<s8>(part)} : s32{static_cast<u8>(part)};
  };
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    u32 sum = c[i];
    for (unsigned k = 0; k < 4; ++k)
      sum += static_cast<u32>(byte(a[i], k, signed_a) * byte(b[i], k, signed_b));
    return sum;
  });
}
/// Two products of a's halves with two bytes of b, the lower or the upper pair.
template <bool signed_a, bool signed_b>
void dot2(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  const unsigned shift = mode_of(instruction) == 0 ? 0 : 16;
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    u32 sum = c[i];
    for (unsigned k = 0; k < 2; ++k) {
      const u32 half = a[i] >> (16 * k), part = b[i] >> shift >> (8 * k);
      const s32 x = signed_a ? s32{static_cast<s16>(half)} : s32{static_cast<u16>(half)};
      const s32 y = signed_b ? s32{static_cast<s8>(part)} : s32{static_cast<u8>(part)};
      sum += static_cast<u32>(x * y);
    }
    return sum;
  });
}
Execute select_dot(const SemanticKey& key) {
  const bool a = key.type == Type::s32, b = key.source_type == Type::s32;
  if ((!a && key.type != Type::u32) || (!b && key.source_type != Type::u32)) return nullptr;
  if (key.opcode == Opcode::dp4a)
    return a ? (b ? &dot4<true, true> : &dot4<true, false>)
             : (b ? &dot4<false, true> : &dot4<false, false>);
  return a ? (b ? &dot2<true, true> : &dot2<true, false>)
           : (b ? &dot2<false, true> : &dot2<false, false>);
}

Execute select_mul(const SemanticKey& key) {
  switch (key.part) {
    case MulPart::lo:
      return pick<MulLow, Type::u16, Type::u32, Type::u64>(as_unsigned(key.type));
    case MulPart::hi:
      return pick<MulHigh, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>(
          key.type);
    case MulPart::wide:
      return pick<MulWide, Type::u16, Type::s16, Type::u32, Type::s32>(key.type);
    default:
      return nullptr;
  }
}
Execute select_mad(const SemanticKey& key) {
  if (key.saturate)
    return key.part == MulPart::hi && key.type == Type::s32 && !key.carry_out
               ? &ternary<Type::s32, MadHighSaturating>
               : nullptr;
  if (key.carry_out || key.opcode == Opcode::madc) {
    const bool carry_in = key.opcode == Opcode::madc;
    if (key.part == MulPart::lo) return pick_carry<MadLowCarry>(as_unsigned(key.type), carry_in);
    if (key.part == MulPart::hi) return pick_carry<MadHighCarry>(key.type, carry_in);
    return nullptr;
  }
  switch (key.part) {
    case MulPart::lo:
      return pick<MadLow, Type::u16, Type::u32, Type::u64>(as_unsigned(key.type));
    case MulPart::hi:
      return pick<MadHigh, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>(
          key.type);
    case MulPart::wide:
      return pick<MadWide, Type::u16, Type::s16, Type::u32, Type::s32>(key.type);
    default:
      return nullptr;
  }
}
Execute select_24(const SemanticKey& key) {
  const bool add = key.opcode == Opcode::mad24;
  if (key.saturate)
    return add && key.part == MulPart::hi && key.type == Type::s32
               ? &ternary<Type::s32, Mad24Saturating>
               : nullptr;
  if (key.part == MulPart::lo)
    return add ? pick_ternary<Mad24Low, Type::u32, Type::s32>(key.type)
               : pick_binary<Mul24Low, Type::u32, Type::s32>(key.type);
  if (key.part == MulPart::hi)
    return add ? pick_ternary<Mad24High, Type::u32, Type::s32>(key.type)
               : pick_binary<Mul24High, Type::u32, Type::s32>(key.type);
  return nullptr;
}

}  // namespace

Execute select_multiply(const SemanticKey& key) {
  switch (key.opcode) {
    case Opcode::mul:
      return select_mul(key);
    case Opcode::mad:
    case Opcode::madc:
      return select_mad(key);
    case Opcode::mul24:
    case Opcode::mad24:
      return select_24(key);
    case Opcode::dp4a:
    case Opcode::dp2a:
      return select_dot(key);
    case Opcode::mad_wide_add:
      return pick<MadWide, Type::u32, Type::s32>(key.type);
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
