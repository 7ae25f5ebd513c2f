/// Approximate functions: rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, div.approx, div.full.
///
/// Source: PTX ISA 8.x, the descriptions of these instructions with their error bounds, which ours
/// stay below: the f32 results are those of the functions in double, rounded once.
///
/// Simplified: a GPU's tables give other low bits.  rcp, sqrt and div.full are correctly rounded.
/// sin and cos of |x| >= 2^31 are those of zero (PTX gives no bound there).
#include "models/isa/semantics/elementary.hpp"
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/half.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

// clang-format off
struct Sin { LOCKSTEP_INLINE static double value(double a) { return sine(a, 0); } };
struct Cos { LOCKSTEP_INLINE static double value(double a) { return sine(a, 1); } };
struct Ex2 { LOCKSTEP_INLINE static double value(double a) { return exponential(a); } };
struct Lg2 { LOCKSTEP_INLINE static double value(double a) { return logarithm(a); } };
struct Tanh { LOCKSTEP_INLINE static double value(double a) { return hyperbolic_tangent(a); } };
struct Rsqrt { LOCKSTEP_INLINE static double value(double a) { return 1.0 / __builtin_sqrt(a); } };
// clang-format on
template <class F>
struct InDouble {
  LOCKSTEP_INLINE static float apply(float a) { return static_cast<float>(F::value(a)); }
};
struct Rcp {
  LOCKSTEP_INLINE static float apply(float a) { return 1.0F / a; }
};
struct Sqrt {
  LOCKSTEP_INLINE static float apply(float a) { return __builtin_sqrtf(a); }
};
struct DivFull {
  LOCKSTEP_INLINE static float apply(float a, float b) { return a / b; }
};
/// a * (1/b), where the reciprocal of a b beyond 2^126 is zero.
struct Div {
  LOCKSTEP_INLINE static float apply(float a, float b) {
    return a * float_of(flushed(bits_of(1.0F / b)));
  }
};

template <class Op, unsigned count>
Execute pick_flushing(const SemanticKey& key) {
  return key.flush ? &float_operation<Op, count, true, false>
                   : &float_operation<Op, count, false, false>;
}
Execute select_f32(const SemanticKey& key) {
  switch (key.opcode) {
    case Opcode::rcp:
      return pick_flushing<Rcp, 1>(key);
    case Opcode::sqrt:
      return pick_flushing<Sqrt, 1>(key);
    case Opcode::rsqrt:
      return pick_flushing<InDouble<Rsqrt>, 1>(key);
    case Opcode::sin:
      return pick_flushing<InDouble<Sin>, 1>(key);
    case Opcode::cos:
      return pick_flushing<InDouble<Cos>, 1>(key);
    case Opcode::lg2:
      return pick_flushing<InDouble<Lg2>, 1>(key);
    case Opcode::ex2:
      return pick_flushing<InDouble<Ex2>, 1>(key);
    case Opcode::tanh:
      return pick_flushing<InDouble<Tanh>, 1>(key);
    case Opcode::div:
      return key.full ? pick_flushing<DivFull, 2>(key) : pick_flushing<Div, 2>(key);
    default:
      return nullptr;
  }
}

/// f64: rcp and, with .ftz, rsqrt give the upper 32 bits of a result.
template <bool root, bool upper>
void reciprocal64(const Instruction& instruction, WarpContext& context) {
  const u64* a = source<u64>(instruction, context, 0);
  const auto flush64 = [](u64 bits) {
    const bool small = (bits & u64{0x7ff} << 52) == 0;
    return upper && small ? bits & u64{1} << 63 : bits;
  };
  for_lanes(destination<u64>(instruction, context), context.active, [=](unsigned i) {
    const double x = double_of(flush64(a[i]));
    const double value = 1.0 / (root ? __builtin_sqrt(x) : x);
    const u64 bits = flush64(upper ? bits_of(value) & ~u64{0xffffffff} : bits_of(value));
    return value != value ? canonical_nan64 : bits;
  });
}
Execute select_f64(const SemanticKey& key) {
  if (key.opcode == Opcode::rcp) return key.flush ? &reciprocal64<false, true> : nullptr;
  if (key.opcode == Opcode::rsqrt)
    return key.flush ? &reciprocal64<true, true> : &reciprocal64<true, false>;
  return nullptr;
}

template <class Format, bool pair, class F>
void of_halves(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const bool flush = (instruction.detail & detail_bits::flush) != 0;
  const auto half = [=](u32 x) {
    const double value = F::value(widen<Format>(flush ? flush_half<Format>(x) : x));
    const u32 bits = narrow_half<Format>(value, Direction{});
    return flush ? flush_half<Format>(bits) : bits;
  };
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const u32 low = half(a[i] & 0xffff);
    return pair ? low | half(a[i] >> 16) << 16 : low;
  });
}
template <class Format, bool pair>
Execute pick_half(Opcode opcode) {
  if (opcode == Opcode::ex2) return &of_halves<Format, pair, Ex2>;
  return opcode == Opcode::tanh ? &of_halves<Format, pair, Tanh> : nullptr;
}

}  // namespace

Execute select_approximate(const SemanticKey& key) {
  if (!key.approximate && !key.full) return nullptr;
  if (key.saturate || key.relu) return nullptr;
  switch (key.type) {
    case Type::f32:
      return select_f32(key);
    case Type::f64:
      return select_f64(key);
    case Type::f16:
      return pick_half<F16, false>(key.opcode);
    case Type::f16x2:
      return pick_half<F16, true>(key.opcode);
    case Type::bf16:
      return pick_half<BF16, false>(key.opcode);
    case Type::bf16x2:
      return pick_half<BF16, true>(key.opcode);
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
