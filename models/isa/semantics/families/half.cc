/// f16 and bf16 arithmetic, single and in pairs.
///
/// Source: PTX ISA 8.x, "Half Precision Floating Point Instructions".
///
/// Operations are computed in double and then rounded once to the format. In double, sums and
/// products of halves are exact or round without effect on the result (53 bits are more than twice
/// eleven and two); the fused operation of bf16 rounds to odd.
#include "models/isa/semantics/half.hpp"

#include "models/isa/semantics/conversion.hpp"
#include "models/isa/semantics/families.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

// clang-format off
struct Add { LOCKSTEP_INLINE static double apply(double a, double b, double) { return a + b; } };
struct Sub { LOCKSTEP_INLINE static double apply(double a, double b, double) { return a - b; } };
struct Mul { LOCKSTEP_INLINE static double apply(double a, double b, double) { return a * b; } };
struct FmaToOdd { LOCKSTEP_INLINE static double apply(double a, double b, double c) { return odd_sum(a * b, c); } };
// clang-format on
/// Fused multiply-add of f16.  A sum that does not fit 53 bits has a term of at least 2^4 and a
/// product below 2^-25, too small to reach a tie of eleven bits.
struct Fma {
  LOCKSTEP_INLINE static double apply(double a, double b, double c) { return a * b + c; }
};

/// Fused operation with signs: bit 0 negates the product, bit 1 the addend.
template <class Op, unsigned signs>
struct Signed {
  LOCKSTEP_INLINE static double apply(double a, double b, double c) {
    return Op::apply((signs & 1) != 0 ? -a : a, b, (signs & 2) != 0 ? -c : c);
  }
};

/// Applies `half` to the lower and, of pairs, to the upper halves.
template <bool pair, class F>
LOCKSTEP_INLINE u32 halves(u32 a, u32 b, u32 c, F half) {
  const u32 low = half(a & 0xffff, b & 0xffff, c & 0xffff);
  return pair ? low | half(a >> 16, b >> 16, c >> 16) << 16 : low;
}

/// `plain`: without modifiers, as nearly always.
template <class Format, bool pair, class Op, unsigned count, bool plain>
void rounded(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = count > 1 ? source<u32>(instruction, context, 1) : a;
  const u32* c = count > 2 ? source<u32>(instruction, context, 2) : a;
  const bool flush = !plain && (instruction.detail & detail_bits::flush) != 0;
  const bool saturate = !plain && (instruction.detail & detail_bits::saturate) != 0;
  const bool relu = !plain && (instruction.detail & detail_bits::relu) != 0;
  const auto read = [=](u32 bits) -> double {
    return widen<Format>(flush ? flush_half<Format>(bits) : bits);
  };
  const auto half = [=](u32 x, u32 y, u32 z) {
    const double value = limited(Op::apply(read(x), read(y), read(z)), saturate, relu);
    const u32 bits = narrow_half<Format>(value, Direction{});
    return flush ? flush_half<Format>(bits) : bits;
  };
  for_lanes(destination<u32>(instruction, context), context.active,
            [=](unsigned i) { return halves<pair>(a[i], b[i], c[i], half); });
}
template <class Format, bool pair, class Op, unsigned count>
Execute pick_rounded(const SemanticKey& key) {
  return key.flush || key.saturate || key.relu ? &rounded<Format, pair, Op, count, false>
                                               : &rounded<Format, pair, Op, count, true>;
}

template <class Format, bool pair, class Op>
Execute pick_fused(const SemanticKey& key) {
  switch (key.mode & 3) {
    case 1:
      return pick_rounded<Format, pair, Signed<Op, 1>, 3>(key);
    case 2:
      return pick_rounded<Format, pair, Signed<Op, 2>, 3>(key);
    case 3:
      return pick_rounded<Format, pair, Signed<Op, 3>, 3>(key);
    default:
      return pick_rounded<Format, pair, Op, 3>(key);
  }
}

template <class Format, bool pair, bool maximum>
void extremum(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const bool flush = (instruction.detail & detail_bits::flush) != 0;
  const bool nan = (instruction.detail & detail_bits::nan) != 0;
  const auto half = [=](u32 x, u32 y, u32) {
    x = flush ? flush_half<Format>(x) : x;
    y = flush ? flush_half<Format>(y) : y;
    const float p = widen<Format>(x), q = widen<Format>(y);
    const u32 equal = maximum ? x & y : x | y;
    const bool first = maximum ? p > q : p < q, second = maximum ? p < q : p > q;
    const u32 ordered = first ? x : (second ? y : equal);
    const u32 other = p == p ? x : y;
    const u32 unordered = nan || (p != p && q != q) ? canonical_nan16 : other;
    return p != p || q != q ? unordered : ordered;
  };
  for_lanes(destination<u32>(instruction, context), context.active,
            [=](unsigned i) { return halves<pair>(a[i], b[i], 0, half); });
}

template <class Format, bool pair, bool negate>
void sign(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const bool flush = (instruction.detail & detail_bits::flush) != 0;
  const auto half = [=](u32 x, u32, u32) {
    x = flush ? flush_half<Format>(x) : x;
    return negate ? x ^ 0x8000 : x & 0x7fff;
  };
  for_lanes(destination<u32>(instruction, context), context.active,
            [=](unsigned i) { return halves<pair>(a[i], 0, 0, half); });
}

template <class Format, bool pair>
Execute select_format(const SemanticKey& key) {
  if (key.rounding != Rounding::none && key.rounding != Rounding::rn) return nullptr;
  switch (key.opcode) {
    case Opcode::add:
      return pick_rounded<Format, pair, Add, 2>(key);
    case Opcode::sub:
      return pick_rounded<Format, pair, Sub, 2>(key);
    case Opcode::mul:
      return pick_rounded<Format, pair, Mul, 2>(key);
    case Opcode::fma:
      if (Format::exponent_bits == 8) return pick_fused<Format, pair, FmaToOdd>(key);
      return pick_fused<Format, pair, Fma>(key);
    case Opcode::min:
      return &extremum<Format, pair, false>;
    case Opcode::max:
      return &extremum<Format, pair, true>;
    case Opcode::abs:
      return &sign<Format, pair, false>;
    case Opcode::neg:
      return &sign<Format, pair, true>;
    default:
      return nullptr;
  }
}

}  // namespace

Execute select_half(const SemanticKey& key) {
  if (key.approximate) return nullptr;
  switch (key.type) {
    case Type::f16:
      return select_format<F16, false>(key);
    case Type::f16x2:
      return select_format<F16, true>(key);
    case Type::bf16:
      return select_format<BF16, false>(key);
    case Type::bf16x2:
      return select_format<BF16, true>(key);
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
