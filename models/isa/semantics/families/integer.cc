/// Integer addition, carry chains, division, minimum and maximum.
///
/// Source: PTX ISA 8.x, "Integer Arithmetic Instructions" and "Extended-Precision Integer
/// Arithmetic Instructions".
///
/// Simplified: results that PTX leaves open are own choices: x / 0 is all ones, x % 0 is x, and the
/// most negative number divided by -1 is that number with remainder 0.
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

template <class V>
using Unsigned = Value<sizeof(V) == 2   ? Type::u16
                       : sizeof(V) == 4 ? Type::u32
                                        : Type::u64>;

// clang-format off
struct Add { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return static_cast<V>(a + b); } };
struct Sub { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return static_cast<V>(a - b); } };
struct Min { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return b < a ? b : a; } };
struct Max { template <class V> LOCKSTEP_INLINE static V apply(V a, V b) { return a < b ? b : a; } };
struct Neg { template <class V> LOCKSTEP_INLINE static V apply(V a) { return static_cast<V>(V{0} - a); } };
struct Add3 { template <class V> LOCKSTEP_INLINE static V apply(V a, V b, V c) { return a + b + c; } };
// clang-format on

/// The absolute value of the most negative number is itself.
struct Abs {
  template <class V>
  LOCKSTEP_INLINE static V apply(V a) {
    const auto bits = static_cast<Unsigned<V>>(a);
    return static_cast<V>(a < 0 ? Neg::apply(bits) : bits);
  }
};
struct Sad {  // c + |a - b|
  template <class V>
  LOCKSTEP_INLINE static V apply(V a, V b, V c) {
    using U = Unsigned<V>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    const U distance = static_cast<U>(a < b ? y - x : x - y);
    return static_cast<V>(static_cast<U>(distance + static_cast<U>(c)));
  }
};

struct AddSaturating {
  LOCKSTEP_INLINE static s32 apply(s32 a, s32 b) {
    const u32 x = static_cast<u32>(a), y = static_cast<u32>(b), sum = x + y;
    const u32 limit = (x >> 31) + 0x7fffffffU;
    return static_cast<s32>(static_cast<s32>((x ^ sum) & (y ^ sum)) < 0 ? limit : sum);
  }
};
struct SubSaturating {
  LOCKSTEP_INLINE static s32 apply(s32 a, s32 b) {
    const u32 x = static_cast<u32>(a), y = static_cast<u32>(b), difference = x - y;
    const u32 limit = (x >> 31) + 0x7fffffffU;
    return static_cast<s32>(static_cast<s32>((x ^ y) & (x ^ difference)) < 0 ? limit : difference);
  }
};
/// .relu: negative results become zero.
struct MinRelu {
  LOCKSTEP_INLINE static s32 apply(s32 a, s32 b) { return Max::apply(Min::apply(a, b), 0); }
};
struct MaxRelu {
  LOCKSTEP_INLINE static s32 apply(s32 a, s32 b) { return Max::apply(Max::apply(a, b), 0); }
};

struct Div {
  template <class V>
  LOCKSTEP_INLINE static V apply(V a, V b) {
    if (b == 0) return static_cast<V>(~V{0});
    if (V(-1) < V(0) && b == V(-1)) return static_cast<V>(Neg::apply(static_cast<Unsigned<V>>(a)));
    return static_cast<V>(a / b);
  }
};
struct Rem {
  template <class V>
  LOCKSTEP_INLINE static V apply(V a, V b) {
    if (b == 0) return a;
    if (V(-1) < V(0) && b == V(-1)) return 0;
    return static_cast<V>(a % b);
  }
};
template <Type T, class Op>
void division(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<Lane<T>>(instruction, context, 0);
  const auto* b = source<Lane<T>>(instruction, context, 1);
  for_active(destination<Lane<T>>(instruction, context), context.active, [=](unsigned i) {
    return put<T>(static_cast<Value<T>>(Op::apply(get<T>(a[i]), get<T>(b[i]))));
  });
}
template <Type T>
struct Quotient {
  static constexpr Execute run = &division<T, Div>;
};
template <Type T>
struct Remainder {
  static constexpr Execute run = &division<T, Rem>;
};

/// add.cc, addc, sub.cc, subc: the condition code is a predicate.  Machines subtract by adding the
/// complement and one (the carry-in, where there is one): the carry of a subtraction means that
/// there was no borrow.  Compiled code relies on this, with addc after sub.cc.
template <class L, bool subtract, bool carry_in>
void with_carry(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<L>(instruction, context, 0);
  const auto* b = source<L>(instruction, context, 1);
  const L in = carry_in ? read_predicate(instruction, context, 0) : 0;
  constexpr L inverted = subtract ? ~L{0} : L{0};
  alignas(64) L result[32];
  LOCKSTEP_LANES {
    const L carry = (carry_in ? (in & lane_bits<L>.bit[i]) != 0 : subtract) ? 1 : 0;
    result[i] = a[i] + (b[i] ^ inverted) + carry;
  }
  // The carry is the top bit of the majority of the two addends and the missing sum.
  constexpr unsigned top = 8 * sizeof(L) - 1;
  const u32 out = lanes_where<L>([&](unsigned i) {
    const L y = b[i] ^ inverted;
    return (((a[i] & y) | ((a[i] | y) & ~result[i])) >> top & 1) != 0;
  });
  store(destination<L>(instruction, context), result, context.active);
  write_predicate(instruction, context, 0, out);
}
template <class L>
Execute pick_carry(bool subtract, bool carry_in) {
  if (subtract) return carry_in ? &with_carry<L, true, true> : &with_carry<L, true, false>;
  return carry_in ? &with_carry<L, false, true> : &with_carry<L, false, false>;
}
Execute select_carry(const SemanticKey& key, bool subtract, bool carry_in) {
  if (key.saturate) return nullptr;
  if (as_unsigned(key.type) == Type::u32) return pick_carry<u32>(subtract, carry_in);
  if (as_unsigned(key.type) == Type::u64) return pick_carry<u64>(subtract, carry_in);
  return nullptr;
}

/// Three-input addition with negated inputs (bits of the mode).
template <Type T>
struct SignedSum {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const unsigned mode = mode_of(instruction);
    const L* a = source<L>(instruction, context, 0);
    const L* b = source<L>(instruction, context, 1);
    const L* c = source<L>(instruction, context, 2);
    const L negate_a = L{0} - L{mode & 1}, negate_b = L{0} - L{mode >> 1 & 1},
            negate_c = L{0} - L{mode >> 2 & 1};
    for_lanes(destination<L>(instruction, context), context.active, [=](unsigned i) -> L {
      return ((a[i] ^ negate_a) - negate_a) + ((b[i] ^ negate_b) - negate_b) +
             ((c[i] ^ negate_c) - negate_c);
    });
  }
};

template <Type T>
struct ScaledSum {  // lea
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const L* a = source<L>(instruction, context, 0);
    const L* b = source<L>(instruction, context, 1);
    const unsigned shift = static_cast<unsigned>(instruction.offset) & (8 * sizeof(L) - 1);
    for_lanes(destination<L>(instruction, context), context.active,
              [=](unsigned i) -> L { return (a[i] << shift) + b[i]; });
  }
};

Execute select_minimum(const SemanticKey& key) {
  const bool maximum = key.opcode == Opcode::max;
  if (key.relu) {
    if (key.type != Type::s32) return nullptr;
    return maximum ? &binary<Type::s32, MaxRelu> : &binary<Type::s32, MinRelu>;
  }
  return maximum
             ? pick_binary<Max, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>(
                   key.type)
             : pick_binary<Min, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>(
                   key.type);
}

Execute select_addition(const SemanticKey& key) {
  const bool subtract = key.opcode == Opcode::sub;
  if (key.carry_out) return select_carry(key, subtract, false);
  if (key.saturate) {
    if (key.type != Type::s32) return nullptr;
    return subtract ? &binary<Type::s32, SubSaturating> : &binary<Type::s32, AddSaturating>;
  }
  const Type type = as_unsigned(key.type);
  return subtract ? pick_binary<Sub, Type::u16, Type::u32, Type::u64>(type)
                  : pick_binary<Add, Type::u16, Type::u32, Type::u64>(type);
}

}  // namespace

Execute select_integer(const SemanticKey& key) {
  const Type type = as_unsigned(key.type);
  switch (key.opcode) {
    case Opcode::add:
    case Opcode::sub:
      return select_addition(key);
    case Opcode::addc:
      return select_carry(key, false, true);
    case Opcode::subc:
      return select_carry(key, true, true);
    case Opcode::min:
    case Opcode::max:
      return select_minimum(key);
    case Opcode::abs:
      return pick_unary<Abs, Type::s16, Type::s32, Type::s64>(key.type);
    case Opcode::neg:
      return pick_unary<Neg, Type::u16, Type::u32, Type::u64>(type);
    case Opcode::sad:
      return pick_ternary<Sad, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>(
          key.type);
    case Opcode::div:
      return pick<Quotient, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>(
          key.type);
    case Opcode::rem:
      return pick<Remainder, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>(
          key.type);
    case Opcode::iadd3:
      if (key.mode != 0) return pick<SignedSum, Type::u32, Type::u64>(type);
      return pick_ternary<Add3, Type::u32, Type::u64>(type);
    case Opcode::lea:
      return pick<ScaledSum, Type::u32, Type::u64>(type);
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
