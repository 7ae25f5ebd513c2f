/// Logic, shifts, bit counting, bit fields and byte permutation.
///
/// Source: PTX ISA 8.x, "Logic and Shift Instructions", "Integer Arithmetic Instructions" (popc,
/// clz, bfind, fns, brev, bfe, bfi, szext, bmsk) and "prmt", with the pseudo code there.
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

// clang-format off
struct And { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return a & b; } };
struct Or { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return a | b; } };
struct Xor { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return a ^ b; } };
struct Not { template <class V> LOCKSTEP_INLINE static V apply(V a) { return static_cast<V>(~a); } };
struct Cnot { template <class V> LOCKSTEP_INLINE static V apply(V a) { return a == 0 ? 1 : 0; } };
// clang-format on

template <class Op>
void predicate_binary(const Instruction& instruction, WarpContext& context) {
  write_predicate(
      instruction, context, 0,
      Op::apply(read_predicate(instruction, context, 0), read_predicate(instruction, context, 1)));
}
void predicate_not(const Instruction& instruction, WarpContext& context) {
  write_predicate(instruction, context, 0, ~read_predicate(instruction, context, 0));
}
template <class Op>
Execute pick_logic(Type type) {
  if (type == Type::pred) return &predicate_binary<Op>;
  return pick_binary<Op, Type::u16, Type::u32, Type::u64>(as_unsigned(type));
}

/// Computes any function of three bits as a tree of selections: by c, then b, then a.
LOCKSTEP_INLINE void lookup3(const Instruction& instruction, const WarpContext& context,
                             u32* result) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  const u32 table = static_cast<u32>(instruction.offset);
  u32 base[4], flip[4];
  for (unsigned k = 0; k < 4; ++k) {
    base[k] = 0U - (table >> (2 * k) & 1);
    flip[k] = base[k] ^ (0U - (table >> (2 * k + 1) & 1));
  }
  LOCKSTEP_LANES {
    const u32 x = a[i], y = b[i], z = c[i];
    const u32 x00 = base[0] ^ (z & flip[0]), x01 = base[1] ^ (z & flip[1]);
    const u32 x10 = base[2] ^ (z & flip[2]), x11 = base[3] ^ (z & flip[3]);
    const u32 x0 = x00 ^ (y & (x00 ^ x01)), x1 = x10 ^ (y & (x10 ^ x11));
    result[i] = x0 ^ (x & (x0 ^ x1));
  }
}
void lop3(const Instruction& instruction, WarpContext& context) {
  alignas(64) u32 result[32];
  lookup3(instruction, context, result);
  store(destination<u32>(instruction, context), result, context.active);
}
/// Executes lop3.BOOL: also p = (d != 0) BOOL q.
void lop3_predicate(const Instruction& instruction, WarpContext& context) {
  alignas(64) u32 result[32];
  lookup3(instruction, context, result);
  const u32 nonzero = lanes_where<u32>([&](unsigned i) { return result[i] != 0; });
  const u32 q = read_predicate(instruction, context, 0);
  const unsigned combination =
      instruction.detail >> detail_bits::combination_shift & detail_bits::combination_mask;
  store(destination<u32>(instruction, context), result, context.active);
  write_predicate(instruction, context, 0,
                  combination == unsigned(Combination::logical_and)  ? nonzero & q
                  : combination == unsigned(Combination::logical_or) ? nonzero | q
                                                                     : nonzero ^ q);
}

/// Shift amounts are 32 bits wide and not taken modulo the width: larger amounts shift all bits
/// out.
template <Type T>
struct ShiftLeft {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    constexpr unsigned width = 8 * bytes_of(T);
    const L* a = source<L>(instruction, context, 0);
    const u32* b = source<u32>(instruction, context, 1);
    for_lanes_staged(destination<L>(instruction, context), context.active, [=](unsigned i) {
      const L shifted = a[i] << (b[i] & (8 * sizeof(L) - 1));
      return put<T>(static_cast<Value<T>>(b[i] < width ? shifted : 0));
    });
  }
};
template <Type T>
struct ShiftRight {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    constexpr unsigned width = 8 * bytes_of(T);
    const L* a = source<L>(instruction, context, 0);
    const u32* b = source<u32>(instruction, context, 1);
    for_lanes_staged(destination<L>(instruction, context), context.active, [=](unsigned i) {
      if constexpr (is_signed(T)) {
        const u32 amount = b[i] < width - 1 ? b[i] : width - 1;
        return put<T>(static_cast<Value<T>>(get<T>(a[i]) >> amount));
      } else {
        const L shifted = a[i] >> (b[i] & (8 * sizeof(L) - 1));
        return b[i] < width ? shifted : L{0};
      }
    });
  }
};

/// Shifts the pair b:a and takes the upper word (left) or the lower (right).
template <bool left, bool wrap>
void funnel(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const u32 amount = wrap ? (c[i] & 31) : (c[i] < 32 ? c[i] : 32);
    const u64 pair = u64{b[i]} << 32 | a[i];
    return static_cast<u32>(left ? pair << amount >> 32 : pair >> amount);
  });
}

/// Unary functions with a 32-bit result, of 32- or 64-bit values.
template <Type T, class Op>
void counting(const Instruction& instruction, WarpContext& context) {
  using L = Lane<T>;
  const L* a = source<L>(instruction, context, 0);
  for_lanes_staged(destination<u32>(instruction, context), context.active,
                   [=](unsigned i) { return static_cast<u32>(Op::apply(get<T>(a[i]))); });
}
LOCKSTEP_INLINE int leading_zeros(u32 a) {
  return a == 0 ? 32 : __builtin_clz(a);
}
LOCKSTEP_INLINE int leading_zeros(u64 a) {
  return a == 0 ? 64 : __builtin_clzll(a);
}
struct Popc {
  LOCKSTEP_INLINE static int apply(u32 a) { return __builtin_popcount(a); }
  LOCKSTEP_INLINE static int apply(u64 a) { return __builtin_popcountll(a); }
};
struct Clz {
  template <class V>
  LOCKSTEP_INLINE static int apply(V a) {
    return leading_zeros(a);
  }
};
/// Position of the highest bit that differs from the sign; -1 if there is none.
struct Bfind {
  LOCKSTEP_INLINE static int apply(u32 a) { return 31 - leading_zeros(a); }
  LOCKSTEP_INLINE static int apply(u64 a) { return 63 - leading_zeros(a); }
  LOCKSTEP_INLINE static int apply(s32 a) { return apply(static_cast<u32>(a ^ (a >> 31))); }
  LOCKSTEP_INLINE static int apply(s64 a) { return apply(static_cast<u64>(a ^ (a >> 63))); }
};
/// The shift that would bring that bit to the top.
struct BfindShift {
  template <class V>
  LOCKSTEP_INLINE static int apply(V a) {
    const int position = Bfind::apply(a);
    return position < 0 ? -1 : int{8 * sizeof(V)} - 1 - position;
  }
};
// clang-format off
template <Type T> struct PopcOf { static constexpr Execute run = &counting<T, Popc>; };
template <Type T> struct ClzOf { static constexpr Execute run = &counting<T, Clz>; };
template <Type T> struct BfindOf { static constexpr Execute run = &counting<T, Bfind>; };
template <Type T> struct BfindShiftOf { static constexpr Execute run = &counting<T, BfindShift>; };
// clang-format on

struct Brev {
  LOCKSTEP_INLINE static u32 apply(u32 a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
  }
  LOCKSTEP_INLINE static u64 apply(u64 a) {
    return u64{apply(static_cast<u32>(a))} << 32 | apply(static_cast<u32>(a >> 32));
  }
};

/// Finds the n-th set bit from a base, upwards for n > 0, downwards for n < 0.
u32 nth_set(u32 mask, u32 base, s32 offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) != 0 ? base : all_lanes;
  const s64 step = offset > 0 ? 1 : -1;
  s64 count = (offset > 0 ? s64{offset} : -s64{offset}) - 1;
  for (s64 at = s64{base}; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && count-- == 0) return static_cast<u32>(at);
  return all_lanes;
}
void fns(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  for_active(destination<u32>(instruction, context), context.active,
             [=](unsigned i) { return nth_set(a[i], b[i], static_cast<s32>(c[i])); });
}

/// The lowest `count` bits (count may be the whole width).
template <class L>
LOCKSTEP_INLINE L low_bits(u32 count) {
  constexpr u32 width = 8 * sizeof(L);
  return count >= width ? static_cast<L>(~L{0})
                        : static_cast<L>((L{1} << (count & (width - 1))) - 1);
}
/// Bit field extract; bits outside of the field or the word are the field's sign.
template <Type T>
struct BitFieldExtract {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    constexpr u32 width = 8 * sizeof(L);
    const L* a = source<L>(instruction, context, 0);
    const u32* b = source<u32>(instruction, context, 1);
    const u32* c = source<u32>(instruction, context, 2);
    for_lanes_staged(destination<L>(instruction, context), context.active, [=](unsigned i) {
      const u32 position = b[i] & 0xff, length = c[i] & 0xff;
      const L shifted = position < width ? a[i] >> (position & (width - 1)) : L{0};
      const u32 room = position < width ? width - position : 0;
      const L mask = low_bits<L>(length < room ? length : room);
      if constexpr (!is_signed(T)) return shifted & mask;
      const u32 last = position + length - 1;
      const L sign = length == 0 ? L{0} : a[i] >> (last < width ? last : width - 1) & 1;
      return (shifted & mask) | ((L{0} - sign) & ~mask);
    });
  }
};
template <Type T>
struct BitFieldInsert {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    constexpr u32 width = 8 * sizeof(L);
    const L* a = source<L>(instruction, context, 0);
    const L* b = source<L>(instruction, context, 1);
    const u32* c = source<u32>(instruction, context, 2);
    const u32* d = source<u32>(instruction, context, 3);
    for_lanes_staged(destination<L>(instruction, context), context.active, [=](unsigned i) {
      const u32 position = c[i] & 0xff, length = d[i] & 0xff, shift = position & (width - 1);
      const L mask = position < width ? low_bits<L>(length) << shift : L{0};
      return (b[i] & ~mask) | (a[i] << shift & mask);
    });
  }
};

/// Sign- or zero-extend from the lowest b bits.
template <Type T>
struct SignExtend {
  static void run(const Instruction& instruction, WarpContext& context) {
    const u32* a = source<u32>(instruction, context, 0);
    const u32* b = source<u32>(instruction, context, 1);
    const bool wrap = (instruction.detail & detail_bits::wrap) != 0;
    for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
      const u32 bits = b[i] & 31;
      const bool too_large = b[i] >= 32 && !wrap;
      const u32 mask = too_large ? 0 : all_lanes << bits;
      const u32 sign = bits == 0 || too_large ? 0 : a[i] >> ((bits - 1) & 31) & 1;
      return (a[i] & ~mask) | (is_signed(T) ? (0U - sign) & mask : 0U);
    });
  }
};
/// Sets b bits to one, from bit a upwards.
void bit_mask(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32 field = (instruction.detail & detail_bits::wrap) != 0 ? 31 : all_lanes;
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const u32 from = a[i] & field, count = b[i] & field;
    const u32 ones = count < 32 ? (1U << (count & 31)) - 1 : all_lanes;
    return from < 32 ? ones << (from & 31) : 0U;
  });
}

/// Byte k of the result is byte `choice` of the eight bytes b:a; bit 3 replicates its sign.
LOCKSTEP_INLINE u32 permute(u64 pair, u32 choices) {
  u32 result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const u32 choice = choices >> (4 * k);
    const u32 byte = static_cast<u32>(pair >> (8 * (choice & 7))) & 0xff;
    const u32 sign = (byte >> 7) * 0xff;
    result |= ((choice & 8) != 0 ? sign : byte) << (8 * k);
  }
  return result;
}
u32 permutation(PermuteMode mode, u32 selector) {
  const u32 s = selector & 3;
  u32 choices = 0;
  for (u32 k = 0; k < 4; ++k) {
    u32 choice = 0;
    switch (mode) {
      case PermuteMode::f4e:
        choice = s + k;
        break;
      case PermuteMode::b4e:
        choice = (s - k) & 7;
        break;
      case PermuteMode::rc8:
        choice = s;
        break;
      case PermuteMode::ecl:
        choice = s > k ? s : k;
        break;
      case PermuteMode::ecr:
        choice = s < k ? s : k;
        break;
      case PermuteMode::rc16:
        choice = (s & 1) * 2 + (k & 1);
        break;
      case PermuteMode::index:
        return selector;
    }
    choices |= choice << (4 * k);
  }
  return choices;
}
void prmt(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  for_lanes(destination<u32>(instruction, context), context.active,
            [=](unsigned i) { return permute(u64{b[i]} << 32 | a[i], c[i]); });
}
void prmt_mode(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  const auto mode = static_cast<PermuteMode>(mode_of(instruction));
  for_active(destination<u32>(instruction, context), context.active,
             [=](unsigned i) { return permute(u64{b[i]} << 32 | a[i], permutation(mode, c[i])); });
}

Execute select_funnel(const SemanticKey& key) {
  if (as_unsigned(key.type) != Type::u32) return nullptr;
  if (key.mode == static_cast<u16>(ShiftDirection::left))
    return key.wrap ? &funnel<true, true> : &funnel<true, false>;
  return key.wrap ? &funnel<false, true> : &funnel<false, false>;
}
Execute select_lop3(const SemanticKey& key) {
  if (as_unsigned(key.type) != Type::u32) return nullptr;
  return key.combination == Combination::none ? &lop3 : &lop3_predicate;
}
Execute select_counting(const SemanticKey& key) {
  const Type bits = as_unsigned(key.type);
  if (key.opcode == Opcode::popc) return pick<PopcOf, Type::u32, Type::u64>(bits);
  if (key.opcode == Opcode::clz) return pick<ClzOf, Type::u32, Type::u64>(bits);
  return key.shift_amount ? pick<BfindShiftOf, Type::u32, Type::s32, Type::u64, Type::s64>(key.type)
                          : pick<BfindOf, Type::u32, Type::s32, Type::u64, Type::s64>(key.type);
}

}  // namespace

Execute select_bits(const SemanticKey& key) {
  const Type bits = as_unsigned(key.type);
  const bool word = bits == Type::u32;
  switch (key.opcode) {
    case Opcode::and_:
      return pick_logic<And>(key.type);
    case Opcode::or_:
      return pick_logic<Or>(key.type);
    case Opcode::xor_:
      return pick_logic<Xor>(key.type);
    case Opcode::not_:
      if (key.type == Type::pred) return &predicate_not;
      return pick_unary<Not, Type::u16, Type::u32, Type::u64>(bits);
    case Opcode::cnot:
      return pick_unary<Cnot, Type::u16, Type::u32, Type::u64>(bits);
    case Opcode::lop3:
      return select_lop3(key);
    case Opcode::shl:
      return pick<ShiftLeft, Type::u16, Type::u32, Type::u64>(bits);
    case Opcode::shr:
      return pick<ShiftRight, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>(
          is_signed(key.type) ? key.type : bits);
    case Opcode::shf:
      return select_funnel(key);
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::bfind:
      return select_counting(key);
    case Opcode::brev:
      return pick_unary<Brev, Type::u32, Type::u64>(bits);
    case Opcode::fns:
      return word ? &fns : nullptr;
    case Opcode::bfe:
      return pick<BitFieldExtract, Type::u32, Type::s32, Type::u64, Type::s64>(key.type);
    case Opcode::bfi:
      return pick<BitFieldInsert, Type::u32, Type::u64>(bits);
    case Opcode::szext:
      return pick<SignExtend, Type::u32, Type::s32>(key.type);
    case Opcode::bmsk:
      return word ? &bit_mask : nullptr;
    case Opcode::prmt:
      if (!word) return nullptr;
      return key.mode == 0 ? &prmt : &prmt_mode;
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
