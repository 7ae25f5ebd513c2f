/// Conversions to and from pairs of 8-bit floating-point numbers.
///
/// Source: PTX ISA 8.x, "cvt"; Micikevicius et al., "FP8 Formats for Deep Learning", section 3.
///
/// e5m2 is an f16 without its lower byte.  e4m3 has no infinity: its largest exponent is used for
/// numbers, and only all ones is NaN.
#include "models/isa/semantics/conversion.hpp"
#include "models/isa/semantics/families.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr u32 canonical_nan8 = 0x7f;  // NaN of both formats

struct E4M3 {
  static constexpr double largest = 448;
  static u32 narrow_finite(double value) {
    const double magnitude = value < 0 ? -value : value;
    if (magnitude < 0x1p-6) return narrow<4, 3>(value, Direction{});
    const u32 wide = narrow<5, 3>(value, Direction{});  // bias 15 instead of 7
    return (wide >> 8) << 7 | ((wide & 0xff) - (8U << 3));
  }
  static u32 to_half(u32 bits) {
    const u32 sign = (bits & 0x80) << 8, magnitude = bits & 0x7f;
    if (magnitude == 0x7f) return canonical_nan16;
    if (magnitude >= 8) return sign | (magnitude + (8U << 3)) << 7;
    return sign | narrow_half<F16>(magnitude * 0x1p-9, Direction{});
  }
};
struct E5M2 {
  static constexpr double largest = 57344;
  static u32 narrow_finite(double value) { return narrow<5, 2>(value, Direction{}); }
  static u32 to_half(u32 bits) { return (bits & 0x7f) > 0x7c ? canonical_nan16 : bits << 8; }
};

/// To nearest; what is too large becomes the largest number.
template <class Format>
u32 to_fp8(double value, bool relu) {
  if (value != value) return canonical_nan8;
  if (relu && !(value > 0)) return 0;
  const double low = value > -Format::largest ? value : -Format::largest;
  return Format::narrow_finite(low < Format::largest ? low : Format::largest);
}

template <class Format>
void from_floats(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const bool relu = (instruction.detail & detail_bits::relu) != 0;
  for_active(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    return to_fp8<Format>(float_of(a[i]), relu) << 8 | to_fp8<Format>(float_of(b[i]), relu);
  });
}
template <class Format>
void from_halves(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const bool relu = (instruction.detail & detail_bits::relu) != 0;
  for_active(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    return to_fp8<Format>(widen<F16>(a[i] >> 16), relu) << 8 |
           to_fp8<Format>(widen<F16>(a[i] & 0xffff), relu);
  });
}
template <class Format>
void to_halves(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const bool relu = (instruction.detail & detail_bits::relu) != 0;
  const auto half = [relu](u32 bits) {
    const u32 value = Format::to_half(bits);
    return relu && (value & 0x8000) != 0 ? 0U : value;
  };
  for_active(destination<u32>(instruction, context), context.active,
             [=](unsigned i) { return half(a[i] & 0xff) | half(a[i] >> 8 & 0xff) << 16; });
}

template <class Format>
Execute select_format(const SemanticKey& key) {
  if (key.type == Type::f16x2) return &to_halves<Format>;
  return key.source_type == Type::f32 ? &from_floats<Format> : &from_halves<Format>;
}

}  // namespace

Execute select_fp8(const SemanticKey& key) {
  if (key.opcode != Opcode::cvt_fp8) return nullptr;
  return key.mode == static_cast<u16>(Fp8Format::e5m2) ? select_format<E5M2>(key)
                                                       : select_format<E4M3>(key);
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
