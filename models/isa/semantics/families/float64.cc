/// f64 arithmetic with IEEE rounding in the four modes.
///
/// Source: PTX ISA 8.x, "Floating Point Instructions".
///
/// Simplified: NaN results are the canonical 0x7ff8000000000000; PTX leaves payloads open.
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/float_family.hpp"
#include "models/isa/semantics/rounding.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

struct Operations {
  // Operations rounded to nearest, and exactly rounded in any mode for finite arguments.
  struct Add {
    LOCKSTEP_INLINE static double apply(double a, double b, double) { return a + b; }
    static double directed(double a, double b, double, Direction d) {
      return exact_fma(a, 1.0, b, d);
    }
  };
  struct Sub {
    LOCKSTEP_INLINE static double apply(double a, double b, double) { return a - b; }
    static double directed(double a, double b, double, Direction d) {
      return exact_fma(a, 1.0, -b, d);
    }
  };
  struct Mul {
    LOCKSTEP_INLINE static double apply(double a, double b, double) { return a * b; }
    static double directed(double a, double b, double, Direction d) {
      // A zero term with the sign of the product keeps the sign of an exact zero.
      return exact_fma(a, b, double_of((bits_of(a) ^ bits_of(b)) & u64{1} << 63), d);
    }
  };
  struct Fma {
    LOCKSTEP_INLINE static double apply(double a, double b, double c) { return fused(a, b, c); }
    static double directed(double a, double b, double c, Direction d) {
      return exact_fma(a, b, c, d);
    }
  };
  /// With the signs that lowering folds in: mode bit 0 negates the product, bit 1 the addend.
  template <unsigned signs>
  struct SignedFma {
    LOCKSTEP_INLINE static double apply(double a, double b, double c) {
      return Fma::apply((signs & 1) != 0 ? -a : a, b, (signs & 2) != 0 ? -c : c);
    }
    static double directed(double a, double b, double c, Direction d) {
      return Fma::directed((signs & 1) != 0 ? -a : a, b, (signs & 2) != 0 ? -c : c, d);
    }
  };
  struct NegatedMul {
    LOCKSTEP_INLINE static double apply(double a, double b, double c) {
      return Mul::apply(-a, b, c);
    }
    static double directed(double a, double b, double c, Direction d) {
      return Mul::directed(-a, b, c, d);
    }
  };
  struct Div {
    LOCKSTEP_INLINE static double apply(double a, double b, double) { return a / b; }
    static double directed(double a, double b, double, Direction d) {
      return b == 0 ? a / b : exact_quotient(a, b, d);
    }
  };
  struct Rcp {
    LOCKSTEP_INLINE static double apply(double a, double, double) { return 1.0 / a; }
    static double directed(double a, double, double, Direction d) {
      return a == 0 ? 1.0 / a : exact_quotient(1.0, a, d);
    }
  };
  struct Sqrt {
    LOCKSTEP_INLINE static double apply(double a, double, double) { return __builtin_sqrt(a); }
    static double directed(double a, double, double, Direction d) {
      return a < 0 ? __builtin_sqrt(a) : exact_root(a, d);
    }
  };
};

LOCKSTEP_INLINE u64 canonical(double value) {
  return value != value ? canonical_nan64 : bits_of(value);
}

template <class Op, unsigned count>
void nearest(const Instruction& instruction, WarpContext& context) {
  const u64* a = source<u64>(instruction, context, 0);
  const u64* b = count > 1 ? source<u64>(instruction, context, 1) : a;
  const u64* c = count > 2 ? source<u64>(instruction, context, 2) : a;
  for_lanes(destination<u64>(instruction, context), context.active, [=](unsigned i) {
    return canonical(Op::apply(double_of(a[i]), double_of(b[i]), double_of(c[i])));
  });
}
template <class Op, unsigned count>
void directed(const Instruction& instruction, WarpContext& context) {
  const u64* a = source<u64>(instruction, context, 0);
  const u64* b = count > 1 ? source<u64>(instruction, context, 1) : a;
  const u64* c = count > 2 ? source<u64>(instruction, context, 2) : a;
  const Direction d = direction_of(instruction);
  for_active(destination<u64>(instruction, context), context.active, [=](unsigned i) {
    const double x = double_of(a[i]), y = double_of(b[i]), z = double_of(c[i]);
    const bool ordinary = finite(x) && finite(y) && finite(z);
    return canonical(ordinary ? Op::directed(x, y, z, d) : Op::apply(x, y, z));
  });
}
template <class Op, unsigned count>
Execute pick_rounded(const SemanticKey& key) {
  switch (key.rounding) {
    case Rounding::none:
    case Rounding::rn:
      return &nearest<Op, count>;
    case Rounding::rz:
    case Rounding::rm:
    case Rounding::rp:
      return &directed<Op, count>;
    default:
      return nullptr;
  }
}

/// A NaN argument is ignored; -0 is less than +0.
template <bool maximum>
struct Extremum {
  LOCKSTEP_INLINE static u64 apply(u64 a, u64 b) {
    const double p = double_of(a), q = double_of(b);
    const u64 equal = maximum ? a & b : a | b;
    const bool first = maximum ? p > q : p < q, second = maximum ? p < q : p > q;
    const u64 ordered = first ? a : (second ? b : equal);
    const u64 other = p == p ? a : b;
    const u64 unordered = p != p && q != q ? canonical_nan64 : other;
    return p != p || q != q ? unordered : ordered;
  }
};
constexpr u64 sign_bit = u64{1} << 63;
struct Abs {
  LOCKSTEP_INLINE static u64 apply(u64 a) { return a & ~sign_bit; }
};
struct Neg {
  LOCKSTEP_INLINE static u64 apply(u64 a) { return a ^ sign_bit; }
};
struct CopySign {
  LOCKSTEP_INLINE static u64 apply(u64 a, u64 b) { return (a & sign_bit) | (b & ~sign_bit); }
};

/// Functions of f64 for which select_float asks.
struct Double : Operations {
  template <class Op, unsigned count>
  static Execute rounded(const SemanticKey& key) {
    return pick_rounded<Op, count>(key);
  }
  static Execute minimum(const SemanticKey&) { return &binary<Type::b64, Extremum<false>>; }
  static Execute maximum(const SemanticKey&) { return &binary<Type::b64, Extremum<true>>; }
  static Execute abs(const SemanticKey&) { return &unary<Type::b64, Abs>; }
  static Execute neg(const SemanticKey&) { return &unary<Type::b64, Neg>; }
  static Execute copysign(const SemanticKey&) { return &binary<Type::b64, CopySign>; }
};

}  // namespace

Execute select_float64(const SemanticKey& key) {
  if (key.type != Type::f64 || key.approximate || key.saturate || key.flush) return nullptr;
  return select_float<Double>(key);
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
