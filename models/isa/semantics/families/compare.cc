/// set, setp and testp: comparisons whose result is a mask of lanes.
///
/// Source: PTX ISA 8.x, "Comparison and Selection Instructions", tables of comparison operators.
/// The combination with a predicate (.and .or .xor) and the complement (p|q) are applied to whole
/// masks.
#include "models/isa/comparison.hpp"
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/float32.hpp"
#include "models/isa/semantics/half.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

template <Comparison C, class V>
LOCKSTEP_INLINE bool compare(V a, V b) {
  if constexpr (C == Comparison::eq)
    return a == b;
  else if constexpr (C == Comparison::ne)
    return a < b || a > b;
  else if constexpr (C == Comparison::lt)
    return a < b;
  else if constexpr (C == Comparison::le)
    return a <= b;
  else if constexpr (C == Comparison::gt)
    return a > b;
  else if constexpr (C == Comparison::ge)
    return a >= b;
  else if constexpr (C == Comparison::num)
    return a == a && b == b;
  else
    return !compare<inverse(C, true)>(a, b);
}

/// Ways of reading operands: integers and f64 unchanged; f32 with or without flushing; halves as
/// f32, from pairs the lower or the upper one.
template <Type T>
struct Plain {
  static constexpr Type type = T;
  static constexpr bool seldom = false;
  LOCKSTEP_INLINE static Value<T> read(Lane<T> lane) { return get<T>(lane); }
};
struct Flushed32 {
  static constexpr Type type = Type::f32;
  static constexpr bool seldom = false;
  LOCKSTEP_INLINE static float read(u32 lane) { return argument<true>(lane); }
};
template <class Format, unsigned shift, bool flush>
struct HalfOf {
  static constexpr Type type = Type::b32;
  static constexpr bool seldom = true;
  LOCKSTEP_INLINE static float read(u32 lane) {
    const u32 bits = lane >> shift & 0xffff;
    return widen<Format>(flush ? flush_half<Format>(bits) : bits);
  }
};

template <class Reader, Comparison C>
LOCKSTEP_INLINE u32 compared_lanes(const Instruction& instruction, const WarpContext& context) {
  using L = Lane<Reader::type>;
  const L* a = source<L>(instruction, context, 0);
  const L* b = source<L>(instruction, context, 1);
  return lanes_where<L>(
      [=](unsigned i) { return compare<C>(Reader::read(a[i]), Reader::read(b[i])); });
}

template <class Reader, Comparison C>
[[gnu::noinline]] u32 compared_by_call(const Instruction& instruction, const WarpContext& context) {
  return compared_lanes<Reader, C>(instruction, context);
}
/// Compares; rarely compared types share the code of a comparison, of its inverse, and of their
/// instructions.
template <class Reader, Comparison C>
LOCKSTEP_INLINE u32 compared(const Instruction& instruction, const WarpContext& context) {
  if constexpr (!Reader::seldom)
    return compared_lanes<Reader, C>(instruction, context);
  else if constexpr (holds_for_nan(C))
    return ~compared_by_call<Reader, inverse(C, true)>(instruction, context);
  else
    return compared_by_call<Reader, C>(instruction, context);
}

LOCKSTEP_INLINE u32 combined(const Instruction& instruction, u32 mask, u32 predicate) {
  switch (static_cast<Combination>(instruction.detail >> detail_bits::combination_shift &
                                   detail_bits::combination_mask)) {
    case Combination::none:
      break;
    case Combination::logical_and:
      return mask & predicate;
    case Combination::logical_or:
      return mask | predicate;
    case Combination::logical_xor:
      return mask ^ predicate;
  }
  return mask;
}

template <class Reader, Comparison C>
struct Setp {
  static void run(const Instruction& instruction, WarpContext& context) {
    const u32 mask = compared<Reader, C>(instruction, context);
    const u32 predicate = read_predicate(instruction, context, 0);
    write_predicate(instruction, context, 0, combined(instruction, mask, predicate));
    write_predicate(instruction, context, 1, combined(instruction, ~mask, predicate));
  }
};
/// Pairs: p from the lower halves, q from the upper.
template <class Lower, class Upper, Comparison C>
struct SetpPair {
  static void run(const Instruction& instruction, WarpContext& context) {
    const u32 lower = compared<Lower, C>(instruction, context);
    const u32 upper = compared<Upper, C>(instruction, context);
    const u32 predicate = read_predicate(instruction, context, 0);
    write_predicate(instruction, context, 0, combined(instruction, lower, predicate));
    write_predicate(instruction, context, 1, combined(instruction, upper, predicate));
  }
};

/// Writes all ones or one where the comparison is true: Instruction::offset, which bind_semantics
/// sets by destination type; each half of a pair has its own.
[[gnu::noinline]] void write_set(const Instruction& instruction, WarpContext& context, u32 lower,
                                 u32 upper) {
  const u32 low_value = static_cast<u32>(instruction.offset), high_value = low_value << 16;
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const u32 low = (lower & lane_bits<u32>.bit[i]) != 0 ? low_value : 0U;
    const u32 high = (upper & lane_bits<u32>.bit[i]) != 0 ? high_value : 0U;
    return low | high;
  });
}
template <class Reader, Comparison C>
struct Set {
  static void run(const Instruction& instruction, WarpContext& context) {
    const u32 mask = compared<Reader, C>(instruction, context);
    const u32 predicate = read_predicate(instruction, context, 0);
    write_set(instruction, context, combined(instruction, mask, predicate), 0);
  }
};
template <class Lower, class Upper, Comparison C>
struct SetPair {
  static void run(const Instruction& instruction, WarpContext& context) {
    const u32 lower = compared<Lower, C>(instruction, context);
    const u32 upper = compared<Upper, C>(instruction, context);
    const u32 predicate = read_predicate(instruction, context, 0);
    write_set(instruction, context, combined(instruction, lower, predicate),
              combined(instruction, upper, predicate));
  }
};

template <class Reader, Comparison... C>
Execute pick_one(const SemanticKey& key) {
  const bool setp = key.opcode == Opcode::setp;
  Execute chosen = nullptr;
  ((key.comparison == C ? void(chosen = setp ? &Setp<Reader, C>::run : &Set<Reader, C>::run)
                        : void()),
   ...);
  return chosen;
}
template <class Lower, class Upper, Comparison... C>
Execute pick_pair(const SemanticKey& key) {
  const bool setp = key.opcode == Opcode::setp;
  Execute chosen = nullptr;
  ((key.comparison == C
        ? void(chosen = setp ? &SetpPair<Lower, Upper, C>::run : &SetPair<Lower, Upper, C>::run)
        : void()),
   ...);
  return chosen;
}

// Returns the comparison without signs: lo, ls, hi, hs are the unsigned ones; eq and ne have no
// sign.
constexpr Comparison signless(Comparison comparison) {
  switch (comparison) {
    case Comparison::lo:
      return Comparison::lt;
    case Comparison::ls:
      return Comparison::le;
    case Comparison::hi:
      return Comparison::gt;
    case Comparison::hs:
      return Comparison::ge;
    default:
      return comparison;
  }
}
template <Type Signed, Type Bits>
Execute pick_integer(SemanticKey key, Type type) {
  using enum Comparison;
  if (signless(key.comparison) != key.comparison) {
    if (is_signed(type)) return nullptr;
    key.comparison = signless(key.comparison);
  }
  if (key.comparison == eq || key.comparison == ne || !is_signed(type))
    return pick_one<Plain<Bits>, eq, ne, lt, le, gt, ge>(key);
  return pick_one<Plain<Signed>, lt, le, gt, ge>(key);
}
template <class Reader>
Execute pick_float(const SemanticKey& key) {
  using enum Comparison;
  return pick_one<Reader, eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan>(key);
}
template <class Format, bool flush>
Execute pick_halves(const SemanticKey& key) {
  using enum Comparison;
  return pick_pair<HalfOf<Format, 0, flush>, HalfOf<Format, 16, flush>, eq, ne, lt, le, gt, ge, equ,
                   neu, ltu, leu, gtu, geu, num, nan>(key);
}

Execute select_comparison(const SemanticKey& key, Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
    case Type::s16:
      return pick_integer<Type::s16, Type::u16>(key, type);
    case Type::b32:
    case Type::u32:
    case Type::s32:
      return pick_integer<Type::s32, Type::u32>(key, type);
    case Type::b64:
    case Type::u64:
    case Type::s64:
      return pick_integer<Type::s64, Type::u64>(key, type);
    case Type::f32:
      return key.flush ? pick_float<Flushed32>(key) : pick_float<Plain<Type::f32>>(key);
    case Type::f64:
      return pick_float<Plain<Type::f64>>(key);
    case Type::f16:
      return key.flush ? pick_float<HalfOf<F16, 0, true>>(key)
                       : pick_float<HalfOf<F16, 0, false>>(key);
    case Type::bf16:
      return pick_float<HalfOf<BF16, 0, false>>(key);
    case Type::f16x2:
      return key.flush ? pick_halves<F16, true>(key) : pick_halves<F16, false>(key);
    case Type::bf16x2:
      return pick_halves<BF16, false>(key);
    default:
      return nullptr;
  }
}

template <Type T>
struct ClassTestOf {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    constexpr L sign = L{1} << (8 * sizeof(L) - 1);
    constexpr L infinity =
        T == Type::f32 ? static_cast<L>(0x7f800000) : static_cast<L>(u64{0x7ff} << 52);
    const L* a = source<L>(instruction, context, 0);
    const auto mode = static_cast<ClassTest>(mode_of(instruction));
    write_predicate(instruction, context, 0, lanes_where<L>([=](unsigned i) {
                      const L magnitude = a[i] & ~sign;
                      const bool is_finite = magnitude < infinity;
                      const bool small = (magnitude & infinity) == 0;
                      switch (mode) {
                        case ClassTest::finite:
                          return is_finite;
                        case ClassTest::infinite:
                          return magnitude == infinity;
                        case ClassTest::number:
                          return magnitude <= infinity;
                        case ClassTest::notanumber:
                          return magnitude > infinity;
                        case ClassTest::normal:
                          return is_finite && !small;
                        case ClassTest::subnormal:
                          return small && magnitude != 0;
                      }
                      return false;
                    }));
  }
};

}  // namespace

Execute select_compare(const SemanticKey& key) {
  switch (key.opcode) {
    case Opcode::setp:
      return select_comparison(key, key.type);
    case Opcode::set:
      return select_comparison(key, key.source_type);
    case Opcode::testp:
      return pick<ClassTestOf, Type::f32, Type::f64>(key.type);
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
