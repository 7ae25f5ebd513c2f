/// f32 arithmetic with IEEE rounding in the four modes, flushing and saturation.
///
/// Source: PTX ISA 8.x, "Floating Point Instructions".
///
/// Simplified: .ftz flushes a result that is subnormal after rounding (PTX does not say whether
/// before or after).  neg, abs and copysign change only the sign, also of a NaN.
#include "models/isa/semantics/float32.hpp"

#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/float_family.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

// Operations rounded to nearest, and in double rounded to odd for the directed modes.
struct Operations {
  struct Add {
    LOCKSTEP_INLINE static float apply(float a, float b) { return a + b; }
    LOCKSTEP_INLINE static double directed(double a, double b, double, Direction d) {
      return signed_zero(odd_sum(a, b), a, b, d);
    }
  };
  struct Sub {
    LOCKSTEP_INLINE static float apply(float a, float b) { return a - b; }
    LOCKSTEP_INLINE static double directed(double a, double b, double, Direction d) {
      return signed_zero(odd_sum(a, -b), a, -b, d);
    }
  };
  struct Mul {
    LOCKSTEP_INLINE static float apply(float a, float b) { return a * b; }
    LOCKSTEP_INLINE static double directed(double a, double b, double, Direction) { return a * b; }
  };
  struct Fma {
    LOCKSTEP_INLINE static float apply(float a, float b, float c) { return fused(a, b, c); }
    LOCKSTEP_INLINE static double directed(double a, double b, double c, Direction d) {
      return signed_zero(odd_sum(a * b, c), a * b, c, d);
    }
  };
  /// With the signs that lowering folds in: mode bit 0 negates the product, bit 1 the addend.
  template <unsigned signs>
  struct SignedFma {
    LOCKSTEP_INLINE static float apply(float a, float b, float c) {
      return Fma::apply((signs & 1) != 0 ? -a : a, b, (signs & 2) != 0 ? -c : c);
    }
    LOCKSTEP_INLINE static double directed(double a, double b, double c, Direction d) {
      return Fma::directed((signs & 1) != 0 ? -a : a, b, (signs & 2) != 0 ? -c : c, d);
    }
  };
  struct NegatedMul {
    LOCKSTEP_INLINE static float apply(float a, float b) { return Mul::apply(-a, b); }
    LOCKSTEP_INLINE static double directed(double a, double b, double c, Direction d) {
      return Mul::directed(-a, b, c, d);
    }
  };
  struct Div {
    LOCKSTEP_INLINE static float apply(float a, float b) { return a / b; }
    LOCKSTEP_INLINE static double directed(double a, double b, double, Direction) {
      return odd_quotient(a, b);
    }
  };
  struct Rcp {
    LOCKSTEP_INLINE static float apply(float a) { return 1.0F / a; }
    LOCKSTEP_INLINE static double directed(double a, double, double, Direction) {
      return odd_quotient(1.0, a);
    }
  };
  struct Sqrt {
    LOCKSTEP_INLINE static float apply(float a) { return __builtin_sqrtf(a); }
    LOCKSTEP_INLINE static double directed(double a, double, double, Direction) {
      return odd_root(a);
    }
  };
};

template <class Op, unsigned count>
void directed_operation(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = count > 1 ? source<u32>(instruction, context, 1) : a;
  const u32* c = count > 2 ? source<u32>(instruction, context, 2) : a;
  const Direction d = direction_of(instruction);
  const bool flush = (instruction.detail & detail_bits::flush) != 0;
  const bool saturate = (instruction.detail & detail_bits::saturate) != 0;
  const auto read = [=](u32 bits) -> double { return float_of(flush ? flushed(bits) : bits); };
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const u32 rounded = narrow<8, 23>(Op::directed(read(a[i]), read(b[i]), read(c[i]), d), d);
    const u32 bits = saturate ? bits_of(clamped(float_of(rounded))) : rounded;
    return flush ? flushed(bits) : bits;
  });
}
template <class Op, unsigned count>
Execute pick_rounded(const SemanticKey& key) {
  switch (key.rounding) {
    case Rounding::none:
    case Rounding::rn:
      return pick_float<Op, count>(key);
    case Rounding::rz:
    case Rounding::rm:
    case Rounding::rp:
      return &directed_operation<Op, count>;
    default:
      return nullptr;
  }
}

/// A NaN argument is ignored unless `nan` (.NaN); -0 is less than +0.
template <bool maximum, bool flush, bool nan>
void extremum(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const u32 x = flush ? flushed(a[i]) : a[i], y = flush ? flushed(b[i]) : b[i];
    const float p = float_of(x), q = float_of(y);
    const u32 equal = maximum ? x & y : x | y;
    const bool first = maximum ? p > q : p < q, second = maximum ? p < q : p > q;
    const u32 ordered = first ? x : (second ? y : equal);
    const u32 other = p == p ? x : y;  // the operand that is a number, where at least one is NaN
    const u32 unordered = nan || (p != p && q != q) ? canonical_nan32 : other;
    return p != p || q != q ? unordered : ordered;
  });
}
template <bool maximum>
Execute pick_extremum(const SemanticKey& key) {
  if (key.flush) return key.nan ? &extremum<maximum, true, true> : &extremum<maximum, true, false>;
  return key.nan ? &extremum<maximum, false, true> : &extremum<maximum, false, false>;
}

template <bool flush>
struct Abs {
  LOCKSTEP_INLINE static u32 apply(u32 a) { return (flush ? flushed(a) : a) & 0x7fffffff; }
};
template <bool flush>
struct Neg {
  LOCKSTEP_INLINE static u32 apply(u32 a) { return (flush ? flushed(a) : a) ^ 0x80000000; }
};
struct CopySign {  // the sign of a, the magnitude of b
  LOCKSTEP_INLINE static u32 apply(u32 a, u32 b) { return (a & 0x80000000) | (b & 0x7fffffff); }
};

/// Functions of f32 for which select_float asks.
struct Single : Operations {
  template <class Op, unsigned count>
  static Execute rounded(const SemanticKey& key) {
    return pick_rounded<Op, count>(key);
  }
  static Execute minimum(const SemanticKey& key) { return pick_extremum<false>(key); }
  static Execute maximum(const SemanticKey& key) { return pick_extremum<true>(key); }
  static Execute abs(const SemanticKey& key) {
    return key.flush ? &unary<Type::b32, Abs<true>> : &unary<Type::b32, Abs<false>>;
  }
  static Execute neg(const SemanticKey& key) {
    return key.flush ? &unary<Type::b32, Neg<true>> : &unary<Type::b32, Neg<false>>;
  }
  static Execute copysign(const SemanticKey&) { return &binary<Type::b32, CopySign>; }
};

}  // namespace

Execute select_float32(const SemanticKey& key) {
  if (key.type != Type::f32 || key.relu || key.approximate || key.full) return nullptr;
  return select_float<Single>(key);
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
