/// Textures and surfaces: where texels lie, what their bytes mean, and linear filtering.  The
/// reader makes a fetch of these and of ordinary loads (reader/families/textures.cpp).
///
/// Source: CUDA C++ Programming Guide, appendix "Texture Fetching": nearest-point sampling takes
/// texel floor(x), linear filtering mixes the two of floor(x - 0.5) in each dimension, with weights
/// of eight fractional bits; PTX ISA 8.x, "Texture Instructions", "Surface Instructions".
///
/// Simplified: weights are rounded to the nearest 1/256, and products and sums of a mixture are
/// exact until one rounding at the end, where the guide says nothing; mirrored coordinates reflect
/// whole texels, so that 1 + k / N is texel N - 1 - k even exactly on the edge; channels that the
/// format lacks are zero.
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/half.hpp"
#include "models/isa/semantics/surface_modes.hpp"
#include "models/isa/semantics/texture_header.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr unsigned weight_bits = 10;  // bits of the weight of a dimension: 0 to 256
constexpr u32 weight_one = 256;
constexpr s32 outside = -1;

u32 low(u64 pair) {
  return static_cast<u32>(pair);
}
u32 high(u64 pair) {
  return static_cast<u32>(pair >> 32);
}
u32 field(u32 flags, unsigned shift) {
  return flags >> shift & 3;
}
unsigned channel_bytes(u32 flags) {
  return 1U << field(flags, texture_flags::channel_shift);
}
unsigned texel_bytes(u32 flags) {
  return channel_bytes(flags) << field(flags, texture_flags::channels_shift);
}

template <class F>
void for_each_active(u32 active, F lane) {
  for (u32 rest = active; rest != 0; rest &= rest - 1)
    lane(static_cast<unsigned>(__builtin_ctz(rest)));
}

/// Returns the texel that index i of n means.
s32 addressed(s64 i, s64 n, TextureAddressing mode) {
  if (n == 0) return outside;
  switch (mode) {
    case TextureAddressing::wrap:
      return static_cast<s32>((i % n + n) % n);
    case TextureAddressing::mirror: {
      const s64 phase = (i % (2 * n) + 2 * n) % (2 * n);
      return static_cast<s32>(phase < n ? phase : 2 * n - 1 - phase);
    }
    case TextureAddressing::clamp:
      return static_cast<s32>(i < 0 ? 0 : i < n ? i : n - 1);
    default:
      return static_cast<s32>(i >= 0 && i < n ? i : outside);
  }
}

/// Texels of one coordinate, and the weight of the second one.
struct Neighbours {
  s32 first, second;
  u32 weight;
};

TextureAddressing without_repetition(TextureAddressing mode) {
  return mode == TextureAddressing::border ? mode : TextureAddressing::clamp;
}

Neighbours at_integer(s32 x, s64 n, TextureAddressing mode) {
  const s32 i = addressed(x, n, without_repetition(mode));
  return {i, i, 0};
}

/// Returns the neighbours.  Coordinates beyond 2^52 have no fraction: repeated ones are at texel 0,
/// others at an end.
Neighbours at_float(float given, s64 n, u32 flags, TextureAddressing mode) {
  constexpr double largest = 0x1p52;
  const bool normalized = (flags & texture_flags::normalized_coordinates) != 0;
  if (!normalized) mode = without_repetition(mode);
  double x = given;
  if (normalized) x *= static_cast<double>(n);
  const bool repeats = mode == TextureAddressing::wrap || mode == TextureAddressing::mirror;
  if (!(x > -largest && x < largest)) x = repeats || x != x ? 0 : x < 0 ? -largest : largest;
  if ((flags & texture_flags::linear) == 0) {
    const s32 i = addressed(static_cast<s64>(__builtin_floor(x)), n, mode);
    return {i, i, 0};
  }
  x -= 0.5;
  const double whole = __builtin_floor(x);
  const s64 i = static_cast<s64>(whole);
  return {addressed(i, n, mode), addressed(i + 1, n, mode),
          static_cast<u32>((x - whole) * weight_one + 0.5)};
}

/// Computes d, e = the texels of coordinate a; f = weights c with this dimension's; p = filtering
/// is linear. b holds the extents, then the header's pitch and flags.
void index(const Instruction& instruction, WarpContext& context) {
  const unsigned dimension = mode_of(instruction) & 3;
  const bool is_float = (mode_of(instruction) & 4) != 0;
  const u32* coordinate = source<u32>(instruction, context, 0);
  const u64* extents = source<u64>(instruction, context, 1);
  const u64* layout = source<u64>(instruction, context, 2);
  const u32* weights = source<u32>(instruction, context, 3);
  u32 first[32] = {}, second[32] = {}, together[32] = {}, linear = 0;
  for_each_active(context.active, [&](unsigned i) {
    const u32 flags = high(layout[i]);
    const s64 n = dimension == 1 ? high(extents[i]) : low(extents[i]);
    const auto mode = static_cast<TextureAddressing>(
        flags >> (texture_flags::addressing_shift[0] + 2 * dimension) & 3);
    const Neighbours at = is_float ? at_float(float_of(coordinate[i]), n, flags, mode)
                                   : at_integer(static_cast<s32>(coordinate[i]), n, mode);
    first[i] = static_cast<u32>(at.first);
    second[i] = static_cast<u32>(at.second);
    together[i] = weights[i] | at.weight << (weight_bits * dimension);
    if ((flags & texture_flags::linear) != 0) linear |= 1U << i;
  });
  blend(destination<u32>(instruction, context, 0), first, context.active);
  blend(destination<u32>(instruction, context, 1), second, context.active);
  blend(destination<u32>(instruction, context, 2), together, context.active);
  write_predicate(instruction, context, 0, linear);
}

/// Computes d = row a of slice b, counted over all slices; c holds their number and their rows.  In
/// a surface (SliceMode), texels outside of a slice are outside, or are moved to its edge.
void row_of_slice(const Instruction& instruction, WarpContext& context) {
  const u32* rows = source<u32>(instruction, context, 0);
  const u32* slices = source<u32>(instruction, context, 1);
  const u64* extents = source<u64>(instruction, context, 2);
  const auto mode = static_cast<SliceMode>(mode_of(instruction));
  const auto addressing =
      mode == SliceMode::clamped_surface ? TextureAddressing::clamp : TextureAddressing::border;
  for_active(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    s32 row = static_cast<s32>(rows[i]), slice = static_cast<s32>(slices[i]);
    if (mode != SliceMode::texture) {
      row = addressed(row, high(extents[i]), addressing);
      slice = addressed(slice, low(extents[i]), addressing);
    }
    return row < 0 || slice < 0
               ? static_cast<u32>(outside)
               : static_cast<u32>(slice) * high(extents[i]) + static_cast<u32>(row);
  });
}

/// Computes d = address of the word in which texel (x, y) begins; e, f = values for its bytes until
/// they are loaded: zero, and the shift in bits of the texel in its word; p = it has more than four
/// bytes, q = sixteen.  It reads header, first texel, pitch and flags, x, y.
void address(const Instruction& instruction, WarpContext& context) {
  const u64* header = source<u64>(instruction, context, 0);
  const u64* base = source<u64>(instruction, context, 1);
  const u64* layout = source<u64>(instruction, context, 2);
  const u32* x = source<u32>(instruction, context, 3);
  const u32* y = source<u32>(instruction, context, 4);
  u64 at[32] = {}, bytes[32] = {}, shift[32] = {};
  u32 wide = 0, widest = 0;
  for_each_active(context.active, [&](unsigned i) {
    const unsigned size = texel_bytes(high(layout[i]));
    const bool inside = static_cast<s32>(x[i]) >= 0 && static_cast<s32>(y[i]) >= 0;
    const u64 place = inside ? base[i] + u64{y[i]} * low(layout[i]) + u64{x[i]} * size
                             : header[i] + texture_border_offset;
    at[i] = size < 4 ? place & ~u64{3} : place;
    bytes[i] = 0;
    shift[i] = size < 4 ? (place & 3) * 8 : 0;
    if (size > 4) wide |= 1U << i;
    if (size > 8) widest |= 1U << i;
  });
  blend(destination<u64>(instruction, context, 0), at, context.active);
  blend(destination<u64>(instruction, context, 1), bytes, context.active);
  blend(destination<u64>(instruction, context, 2), shift, context.active);
  write_predicate(instruction, context, 0, wide);
  write_predicate(instruction, context, 1, widest);
}

float normalized(u32 bits, unsigned width, bool is_signed) {
  const double largest = static_cast<double>((u64{1} << (is_signed ? width - 1 : width)) - 1);
  const double value =
      is_signed ? static_cast<double>(static_cast<s32>(bits << (32 - width)) >> (32 - width))
                : static_cast<double>(bits);
  const double fraction = value / largest;
  return static_cast<float>(fraction < -1 ? -1 : fraction);
}

u32 channel(u32 flags, const u64* words, unsigned c) {
  const unsigned width = 8 * channel_bytes(flags);
  if (width > 32 || c >= 1U << field(flags, texture_flags::channels_shift)) return 0;
  const unsigned bit = c * width;
  const u32 bits = static_cast<u32>(words[bit / 64 % 2] >> (bit % 64));
  const auto kind = static_cast<TexelKind>(field(flags, texture_flags::kind_shift));
  if (kind == TexelKind::is_float) return width == 16 ? bits_of(widen<F16>(bits)) : bits;
  if (width == 32) return bits;
  const u32 value = bits & ((1U << width) - 1);
  const bool is_signed = kind == TexelKind::is_signed;
  if ((flags & texture_flags::normalized_read) != 0)
    return bits_of(normalized(value, width, is_signed));
  return is_signed ? static_cast<u32>(static_cast<s32>(value << (32 - width)) >> (32 - width))
                   : value;
}

/// Decodes the four channels of a texel of bytes a, b; c holds the flags. The texture, not the
/// instruction, decides how integers are read: nvcc 11 takes the bits of fractions out of .u32
/// results.
void decode(const Instruction& instruction, WarpContext& context) {
  const u64* bytes = source<u64>(instruction, context, 0);
  const u64* more = source<u64>(instruction, context, 1);
  const u64* layout = source<u64>(instruction, context, 2);
  u32 channels[4][32] = {};
  for_each_active(context.active, [&](unsigned i) {
    const u32 flags = high(layout[i]);
    const bool shifted = texel_bytes(flags) < 4;
    const u64 words[2] = {shifted ? bytes[i] >> (more[i] & 31) : bytes[i], more[i]};
    for (unsigned c = 0; c < 4; ++c) channels[c][i] = channel(flags, words, c);
  });
  for (unsigned c = 0; c < 4; ++c)
    if (instruction.destination[c].valid())
      blend(destination<u32>(instruction, context, c), channels[c], context.active);
}

double share(u32 weights, unsigned dimension) {
  return static_cast<double>(weights >> (weight_bits * dimension) & ((1U << weight_bits) - 1)) /
         weight_one;
}
/// Rounds. Products with weights are exact: sums are the same with and without fusing.
u32 rounded(double value) {
  return value == value ? bits_of(static_cast<float>(value)) : 0x7fffffff;
}

/// Mixes two texels, along the dimension that the mode names.
void mix_two(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* weights = source<u32>(instruction, context, 2);
  const unsigned dimension = mode_of(instruction) & 3;
  for_active(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const double x = share(weights[i], dimension);
    return rounded((1 - x) * double{float_of(a[i])} + x * double{float_of(b[i])});
  });
}
/// Mixes four texels: (0, 0), (1, 0), (0, 1), (1, 1).
void mix_four(const Instruction& instruction, WarpContext& context) {
  const u32* t00 = source<u32>(instruction, context, 0);
  const u32* t10 = source<u32>(instruction, context, 1);
  const u32* t01 = source<u32>(instruction, context, 2);
  const u32* t11 = source<u32>(instruction, context, 3);
  const u32* weights = source<u32>(instruction, context, 4);
  for_active(destination<u32>(instruction, context), context.active, [=](unsigned i) {
    const double x = share(weights[i], 0), y = share(weights[i], 1);
    return rounded((1 - x) * (1 - y) * double{float_of(t00[i])} +
                   x * (1 - y) * double{float_of(t10[i])} + (1 - x) * y * double{float_of(t01[i])} +
                   x * y * double{float_of(t11[i])});
  });
}

/// d = address of byte x of row y of a surface, p = the access lies inside.  It reads first texel,
/// extents, pitch and flags, x, y.  Mode: see surface_modes.hpp.
void surface_address(const Instruction& instruction, WarpContext& context) {
  const u64* base = source<u64>(instruction, context, 0);
  const u64* extents = source<u64>(instruction, context, 1);
  const u64* layout = source<u64>(instruction, context, 2);
  const u32* xs = source<u32>(instruction, context, 3);
  const u32* ys = source<u32>(instruction, context, 4);
  const bool clamps = (mode_of(instruction) & surface_clamps) != 0;
  const bool has_slices = (mode_of(instruction) & surface_has_slices) != 0;
  const s64 size = static_cast<u32>(instruction.offset);
  u64 at[32] = {};
  u32 within = 0;
  for_each_active(context.active, [&](unsigned i) {
    const s64 last_x = s64{low(extents[i])} * texel_bytes(high(layout[i])) - size;
    // Rows of slices have been looked at.
    const s64 last_y = has_slices ? INT32_MAX : s64{high(extents[i])} - 1;
    s64 x = static_cast<s32>(xs[i]), y = static_cast<s32>(ys[i]);
    if (clamps) {
      x = x < 0 ? 0 : x > last_x ? last_x : x;
      y = y < 0 ? 0 : y > last_y ? last_y : y;
    }
    const bool inside = x >= 0 && x <= last_x && y >= 0 && y <= last_y;
    at[i] = inside ? base[i] + static_cast<u64>(y) * low(layout[i]) + static_cast<u64>(x) : base[i];
    if (inside) within |= 1U << i;
  });
  blend(destination<u64>(instruction, context, 0), at, context.active);
  write_predicate(instruction, context, 0, within);
}

}  // namespace

Execute select_texture(const SemanticKey& key) {
  const bool wide = key.type == Type::b64;
  switch (key.opcode) {
    case Opcode::tex_index:
      return wide ? &index : nullptr;
    case Opcode::tex_row:
      return wide ? &row_of_slice : nullptr;
    case Opcode::tex_address:
      return wide ? &address : nullptr;
    case Opcode::tex_decode:
      return wide ? &decode : nullptr;
    case Opcode::tex_mix:
      return key.type != Type::f32 ? nullptr : key.sources == 5 ? &mix_four : &mix_two;
    case Opcode::surf_address:
      return wide ? &surface_address : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
