/// f16 and bf16 as bit patterns in 32-bit lanes; arithmetic is done in wider formats.
#pragma once

#include "models/isa/semantics/float32.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr u32 canonical_nan16 = 0x7fff;  // NaN of both formats

struct F16 {
  static constexpr unsigned exponent_bits = 5, mantissa_bits = 10;
  static constexpr u32 infinity = 0x7c00, one = 0x3c00;
};
struct BF16 {
  static constexpr unsigned exponent_bits = 8, mantissa_bits = 7;
  static constexpr u32 infinity = 0x7f80, one = 0x3f80;
};

/// Exact; the lower 16 bits of `bits` count.
template <class Format>
LOCKSTEP_INLINE float widen(u32 bits) {
  if constexpr (Format::exponent_bits == 8) {
    return float_of(bits << 16);
  } else {
    const u32 sign = (bits & 0x8000) << 16, magnitude = (bits & 0x7fff) << 13;
    // Multiplying by 2^112 moves the bias, of subnormals too; infinity and NaN need further steps.
    const float scaled = float_of(magnitude) * 0x1p112F;
    const u32 special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000U : 0U;
    return float_of(bits_of(scaled) | sign | special);
  }
}
/// Rounds to the format; the direct way from f32 is exact input for any mode.
template <class Format>
LOCKSTEP_INLINE u32 narrow_half(double value, Direction d) {
  return narrow<Format::exponent_bits, Format::mantissa_bits>(value, d);
}
template <class Format>
LOCKSTEP_INLINE u32 flush_half(u32 bits) {
  return (bits & Format::infinity) == 0 ? bits & 0x8000 : bits;
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
