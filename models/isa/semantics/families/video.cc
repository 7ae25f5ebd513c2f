/// Video instructions: scalar ones on bytes, halves or words, and SIMD ones on two halves or four
/// bytes.
///
/// Source: PTX ISA 8.x, "Video Instructions"; the pseudo code there is what is meant.
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

/// The modifiers of one instruction.
struct Video {
  u32 bits;
  explicit Video(const Instruction& instruction) : bits(static_cast<u32>(instruction.offset)) {}
  u32 field(unsigned shift, unsigned width) const { return bits >> shift & ((1U << width) - 1); }
  bool has(u32 flag) const { return (bits & flag) != 0; }
  VideoOperation operation() const {
    return static_cast<VideoOperation>(field(video_bits::operation_shift, 4));
  }
  VideoSecondary secondary() const {
    return static_cast<VideoSecondary>(field(video_bits::secondary_shift, 2));
  }
  Comparison comparison() const {
    return static_cast<Comparison>(field(video_bits::comparison_shift, 4));
  }
  VideoPart part(unsigned operand) const {
    return static_cast<VideoPart>(field(video_bits::part_shift[operand], 3));
  }
};

s64 extended(u32 bits, unsigned width, bool is_signed) {
  const unsigned unused = 64 - width;
  return is_signed ? static_cast<s64>(u64{bits} << unused) >> unused
                   : static_cast<s64>(u64{bits} << unused >> unused);
}
s128 clamped(s128 value, unsigned width, bool is_signed) {
  const s128 most = (s128{1} << (is_signed ? width - 1 : width)) - 1;
  const s128 least = is_signed ? -most - 1 : 0;
  return value < least ? least : (value > most ? most : value);
}

bool holds(Comparison comparison, s64 a, s64 b) {
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    default:
      return a >= b;
  }
}

/// Combines two values, as all video instructions do; results have room.
s128 combined(Video video, s64 a, s64 b) {
  switch (video.operation()) {
    case VideoOperation::sub:
      return s128{a} - b;
    case VideoOperation::absdiff:
      return a < b ? s128{b} - a : s128{a} - b;
    case VideoOperation::min:
    case VideoOperation::max: {
      const s64 chosen = (a < b) == (video.operation() == VideoOperation::min) ? a : b;
      return video.has(video_bits::relu) && chosen < 0 ? 0 : chosen;
    }
    case VideoOperation::average:  // rounds up where the sum is not negative, and down otherwise
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoOperation::set:
      return holds(video.comparison(), a, b) ? 1 : 0;
    case VideoOperation::shl:
    case VideoOperation::shr: {
      const u32 given = static_cast<u32>(b);
      const u32 amount = video.has(video_bits::wrap) ? given & 31 : (given < 32 ? given : 32);
      return video.operation() == VideoOperation::shl ? s128{a} << amount : s128{a} >> amount;
    }
    default:
      return s128{a} + b;
  }
}

unsigned width_of(VideoPart part) {
  return part == VideoPart::whole ? 32 : part >= VideoPart::h0 ? 16 : 8;
}
unsigned position_of(VideoPart part) {
  if (part == VideoPart::whole) return 0;
  return part >= VideoPart::h0 ? 16 * (static_cast<u32>(part) - static_cast<u32>(VideoPart::h0))
                               : 8 * (static_cast<u32>(part) - static_cast<u32>(VideoPart::b0));
}
s64 part_of(u32 value, VideoPart part, bool is_signed) {
  return extended(value >> position_of(part), width_of(part), is_signed);
}
/// Returns c with the value's low bits in their part.
u32 merged(VideoPart part, u32 value, u32 c) {
  const u32 mask = (all_lanes >> (32 - width_of(part))) << position_of(part);
  return (c & ~mask) | (value << position_of(part) & mask);
}
u32 with_secondary(Video video, u32 value, u32 c) {
  const bool is_signed = video.has(video_bits::result_signed);
  const bool less = is_signed ? static_cast<s32>(value) < static_cast<s32>(c) : value < c;
  switch (video.secondary()) {
    case VideoSecondary::add:
      return value + c;
    case VideoSecondary::min:
      return less ? value : c;
    case VideoSecondary::max:
      return less ? c : value;
    default:
      return value;
  }
}

void scalar(const Instruction& instruction, WarpContext& context) {
  const Video video(instruction);
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = instruction.source[2].valid() ? source<u32>(instruction, context, 2) : a;
  for_active(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    s128 value = combined(video, part_of(a[i], video.part(1), video.has(video_bits::a_signed)),
                          part_of(b[i], video.part(2), video.has(video_bits::b_signed)));
    if (video.has(video_bits::saturate))
      value = clamped(value, width_of(video.part(0)), video.has(video_bits::result_signed));
    const u32 word = static_cast<u32>(value);
    return video.secondary() != VideoSecondary::none ? with_secondary(video, word, c[i])
                                                     : merged(video.part(0), word, c[i]);
  });
}

/// Computes (a * b + c) >> scale in 128 bits; the product or c may be negated.
void multiply_add(const Instruction& instruction, WarpContext& context) {
  const Video video(instruction);
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  const bool negate_product = video.has(video_bits::negate_product);
  const bool negate_c = video.has(video_bits::negate_c);
  const bool is_signed =
      video.has(video_bits::a_signed | video_bits::b_signed) || negate_product || negate_c;
  for_active(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const s128 product = s128{part_of(a[i], video.part(1), video.has(video_bits::a_signed))} *
                         part_of(b[i], video.part(2), video.has(video_bits::b_signed));
    s128 value = negate_product ? ~product : product;
    value += extended(negate_c ? ~c[i] : c[i], 32, is_signed);
    if (negate_product || negate_c || video.has(video_bits::plus_one)) ++value;
    value >>= video.field(video_bits::scale_shift, 4);
    return static_cast<u32>(video.has(video_bits::saturate) ? clamped(value, 32, is_signed)
                                                            : value);
  });
}

/// Handles two halves or four bytes; parts that the mask leaves out come from c, or the results are
/// added to c.
template <unsigned parts>
void simd(const Instruction& instruction, WarpContext& context) {
  constexpr unsigned width = 32 / parts;
  constexpr u32 low = (1U << width) - 1;
  const Video video(instruction);
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = instruction.source[2].valid() ? source<u32>(instruction, context, 2) : a;
  const u32 mask = video.field(video_bits::mask_shift, 4);
  const bool adds = video.secondary() == VideoSecondary::add;
  for_active(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    u32 sum = c[i], whole = 0;
    for (unsigned shift = 0; shift < 32; shift += width) {
      if ((mask >> shift / width & 1) == 0) {
        whole |= c[i] & low << shift;
        continue;
      }
      s128 value = combined(video, extended(a[i] >> shift, width, video.has(video_bits::a_signed)),
                            extended(b[i] >> shift, width, video.has(video_bits::b_signed)));
      if (video.has(video_bits::saturate))
        value = clamped(value, width, video.has(video_bits::result_signed));
      sum += static_cast<u32>(value);
      whole |= (static_cast<u32>(value) & low) << shift;
    }
    return adds ? sum : whole;
  });
}

}  // namespace

Execute select_video(const SemanticKey& key) {
  switch (key.opcode) {
    case Opcode::video:
      return key.mode == video_multiply_add ? &multiply_add : &scalar;
    case Opcode::video2:
      return &simd<2>;
    case Opcode::video4:
      return &simd<4>;
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
