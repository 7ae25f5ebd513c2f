/// Flushing, saturation and the canonical NaN of f32 operations.
#pragma once

#include "models/isa/semantics/rounding.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

/// Replaces a subnormal by zero of the same sign.
LOCKSTEP_INLINE u32 flushed(u32 bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}
template <bool flush>
LOCKSTEP_INLINE float argument(u32 bits) {
  return float_of(flush ? flushed(bits) : bits);
}
/// Clamps to [0, 1] and turns NaN into +0, as .sat does.
LOCKSTEP_INLINE float clamped(float value) {
  const float low = value > 0.0F ? value : 0.0F;
  return low < 1.0F ? low : 1.0F;
}
template <bool flush, bool saturate>
LOCKSTEP_INLINE u32 result(float value) {
  if constexpr (saturate) {
    const u32 bits = bits_of(clamped(value));
    return flush ? flushed(bits) : bits;
  } else {
    const u32 bits = flush ? flushed(bits_of(value)) : bits_of(value);
    return value != value ? canonical_nan32 : bits;
  }
}

/// d = Op(a, ...) with `count` arguments, rounded to nearest.
template <class Op, unsigned count, bool flush, bool saturate>
void float_operation(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = count > 1 ? source<u32>(instruction, context, 1) : a;
  const u32* c = count > 2 ? source<u32>(instruction, context, 2) : a;
  for_lanes(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const float x = argument<flush>(a[i]);
    if constexpr (count == 1)
      return result<flush, saturate>(Op::apply(x));
    else if constexpr (count == 2)
      return result<flush, saturate>(Op::apply(x, argument<flush>(b[i])));
    else
      return result<flush, saturate>(Op::apply(x, argument<flush>(b[i]), argument<flush>(c[i])));
  });
}
template <class Op, unsigned count>
Execute pick_float(const SemanticKey& key) {
  if (key.flush)
    return key.saturate ? &float_operation<Op, count, true, true>
                        : &float_operation<Op, count, true, false>;
  return key.saturate ? &float_operation<Op, count, false, true>
                      : &float_operation<Op, count, false, false>;
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
