#include <algorithm>
#include <limits>

#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::convert_test {
namespace {

__extension__ typedef __int128 Wide;

constexpr Type integers[] = {Type::u8,  Type::s8,  Type::u16, Type::s16,
                             Type::u32, Type::s32, Type::u64, Type::s64};
constexpr Type floats[] = {Type::f16, Type::bf16, Type::f32, Type::f64};

/// A floating-point format by its parameters; values of all of them are exact in long double.
struct Format {
  int exponent_bits, mantissa;
};
Format format_of(Type type) {
  switch (type) {
    case Type::f16:
      return {5, 10};
    case Type::bf16:
      return {8, 7};
    case Type::f32:
      return {8, 23};
    case Type::b32:  // tf32
      return {8, 10};
    default:
      return {11, 52};
  }
}
long double value_of(std::uint64_t bits, Type type) {
  const Format f = format_of(type);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << f.mantissa) - 1);
  const int exponent = static_cast<int>(bits >> f.mantissa & ((1U << f.exponent_bits) - 1));
  const long double sign = (bits >> (f.mantissa + f.exponent_bits) & 1) != 0 ? -1 : 1;
  if (exponent == (1 << f.exponent_bits) - 1)
    return fraction != 0 ? std::numeric_limits<long double>::quiet_NaN()
                         : sign * std::numeric_limits<long double>::infinity();
  const long double significand =
      static_cast<long double>(fraction) + (exponent == 0 ? 0 : std::ldexp(1.0L, f.mantissa));
  return sign * std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - f.mantissa);
}
long double round_integral(long double value, Rounding mode) {
  switch (mode) {
    case Rounding::rz:
    case Rounding::rzi:
      return std::trunc(value);
    case Rounding::rm:
    case Rounding::rmi:
      return std::floor(value);
    case Rounding::rp:
    case Rounding::rpi:
      return std::ceil(value);
    case Rounding::rna:
      return std::round(value);
    default:
      return std::rint(value);
  }
}
/// Scales so that the last bit of the result is one, rounds to an integer, scales back.
std::uint64_t bits_of_value(long double value, Type type, Rounding mode) {
  const Format f = format_of(type);
  const std::uint64_t ones = ((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa;
  if (std::isnan(value))
    return type == Type::f64 ? 0x7ff8000000000000
                             : (std::uint64_t{1} << (f.exponent_bits + f.mantissa)) - 1;
  const std::uint64_t sign = std::uint64_t{std::signbit(value)} << (f.exponent_bits + f.mantissa);
  if (std::isinf(value)) return sign | ones;
  if (value == 0) return sign;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(value), 1 - bias);
  const long double scaled = round_integral(std::ldexp(value, f.mantissa - exponent), mode);
  // The integer with its hidden bit, added to the exponent below, carries by itself.
  const std::uint64_t bits = static_cast<std::uint64_t>(std::fabs(scaled)) +
                             (static_cast<std::uint64_t>(exponent + bias - 1) << f.mantissa);
  if (bits < ones) return sign | bits;
  const bool grows = mode == Rounding::rp   ? sign == 0
                     : mode == Rounding::rm ? sign != 0
                                            : mode != Rounding::rz;
  return sign | (grows ? ones : ones - 1);
}

Builder conversion(
    Type to, Type from, Slot to_slot, Slot from_slot,
    const std::function<void(ir::Operation&)>& change = [](auto&) {}) {
  return Builder(Opcode::cvt, to, from).from({from_slot}).to({to_slot}).with(change);
}
Wide lowest(Type type) {
  return is_signed(type) ? -(Wide{1} << (8 * bytes_of(type) - 1)) : 0;
}
Wide highest(Type type) {
  return is_signed(type) ? (Wide{1} << (8 * bytes_of(type) - 1)) - 1 : Wide{width_mask(type)};
}
Wide integer(std::uint64_t bits, Type type) {
  return is_signed(type) ? Wide{signed_value(bits, type)} : Wide{bits & width_mask(type)};
}
/// A result in a register: extended by its type up to the register, zero-extended in the lane.
std::uint64_t in_register(Wide value, Type type, unsigned bytes) {
  const Wide within = integer(static_cast<std::uint64_t>(value), type);
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  return static_cast<std::uint64_t>(within) & mask;
}

TEST(ConvertSemantics, IntegersExtendTruncateAndSaturateIntoAnyRegister) {
  for (const Type from : integers)
    for (const Type to : integers)
      for (const bool saturate : {false, true})
        for (const Type wide : {Type::none, Type::b32, Type::b64})
          for (const Type wide_from : {Type::none, Type::b64}) {
            const unsigned bytes = std::max({bytes_of(to), 2u, bytes_of(wide)});
            const bool pair_from = bytes_of(from) == 8 || wide_from == Type::b64;
            Builder builder = conversion(to, from, bytes == 8 ? Slot::pair : Slot::word,
                                         pair_from ? Slot::pair : Slot::word,
                                         [=](ir::Operation& op) { op.saturate = saturate; });
            builder.operation.destinations.resize(1);
            builder.operation.sources.resize(1);
            builder.operation.destinations[0].type = wide;
            builder.operation.sources[0].type = wide_from;
            expect_lanes(
                builder, {pair_from ? Type::u64 : Type::u32},
                [&](const LaneInput& in) {
                  Wide value = integer(in.row[0], from);
                  if (saturate) value = std::min(std::max(value, lowest(to)), highest(to));
                  return in_register(value, to, bytes);
                },
                4);
          }
}

TEST(ConvertSemantics, IntegersToFloatsInEveryMode) {
  for (const Type from : integers)
    for (const Type to : floats)
      for (const Rounding mode : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp})
        expect_lanes(conversion(to, from, slot_of(to), slot_of(from),
                                [=](ir::Operation& op) { op.rounding = mode; }),
                     {from}, [&](const LaneInput& in) {
                       return bits_of_value(static_cast<long double>(integer(in.row[0], from)), to,
                                            mode);
                     });
}

TEST(ConvertSemantics, FloatsToIntegersClampAndTreatNanAsDocumented) {
  for (const Type from : floats)
    for (const Type to : integers)
      for (const Rounding mode : {Rounding::rni, Rounding::rzi, Rounding::rmi, Rounding::rpi})
        for (const bool flush : {false, true}) {
          if (flush && from != Type::f32) continue;
          expect_lanes(conversion(to, from, slot_of(to), slot_of(from),
                                  [=](ir::Operation& op) {
                                    op.rounding = mode;
                                    op.flush = flush;
                                  }),
                       {from}, [&](const LaneInput& in) {
                         std::uint64_t bits = in.row[0];
                         if (flush && (bits & 0x7f800000) == 0) bits &= 0x80000000;
                         const long double value = round_integral(value_of(bits, from), mode);
                         const unsigned bytes = std::max(bytes_of(to), 2u);
                         if (std::isnan(value)) {
                           const bool wide = from == Type::f64 || bytes_of(to) == 8;
                           return in_register(wide ? Wide{1} << (8 * bytes_of(to) - 1) : 0, to,
                                              bytes);
                         }
                         if (value >= static_cast<long double>(highest(to)))
                           return in_register(highest(to), to, bytes);
                         if (value <= static_cast<long double>(lowest(to)))
                           return in_register(lowest(to), to, bytes);
                         return in_register(static_cast<Wide>(value), to, bytes);
                       });
        }
}

TEST(ConvertSemantics, FloatsToFloatsInEveryMode) {
  constexpr Rounding modes[] = {Rounding::none, Rounding::rn,  Rounding::rz,
                                Rounding::rm,   Rounding::rp,  Rounding::rni,
                                Rounding::rzi,  Rounding::rmi, Rounding::rpi};
  for (const Type from : floats)
    for (const Type to : floats)
      for (const Rounding mode : modes)
        for (const unsigned variant : {0u, 1u, 2u, 3u}) {  // plain, ftz, sat, relu
          if (mode >= Rounding::rni && from != to) continue;
          const bool flush = variant == 1;
          const auto flushed = [&](std::uint64_t bits, Type type) {
            return flush && type == Type::f32 && (bits & 0x7f800000) == 0 ? bits & 0x80000000
                                                                          : bits;
          };
          expect_lanes(
              conversion(to, from, slot_of(to), slot_of(from),
                         [=](ir::Operation& op) {
                           op.rounding = mode;
                           op.flush = flush;
                           op.saturate = variant == 2;
                           op.relu = variant == 3;
                         }),
              {from},
              [&](const LaneInput& in) {
                long double value = value_of(flushed(in.row[0], from), from);
                if (mode >= Rounding::rni) value = round_integral(value, mode);
                if (variant == 2)
                  value = std::isnan(value) || value <= 0 ? 0 : std::min(value, 1.0L);
                if (variant == 3 && value <= 0) value = 0;
                return flushed(bits_of_value(value, to, mode), to);
              },
              15);
        }
}

TEST(ConvertSemantics, IntegralRoundingIntoAnotherFormatIsRefused) {
  ir::Operation operation;
  operation.opcode = Opcode::cvt;
  operation.type = Type::f32;
  operation.source_type = Type::f64;
  operation.rounding = Rounding::rzi;
  EXPECT_EQ(select_semantics(operation), nullptr);
}

TEST(ConvertSemantics, TensorFloatRoundsAwayFromZeroInTies) {
  expect_lanes(conversion(Type::b32, Type::f32, Slot::word, Slot::word,
                          [](ir::Operation& op) { op.rounding = Rounding::rna; }),
               {Type::f32}, [](const LaneInput& in) {
                 return bits_of_value(value_of(in.row[0], Type::f32), Type::b32, Rounding::rna)
                        << 13;
               });
}

TEST(ConvertSemantics, TwoFloatsToAPair) {
  for (const Type to : {Type::f16x2, Type::bf16x2}) {
    const Type half = to == Type::f16x2 ? Type::f16 : Type::bf16;
    for (const Rounding mode : {Rounding::rn, Rounding::rz})
      expect_lanes(Builder(Opcode::cvt, to, Type::f32)
                       .from({Slot::word, Slot::word})
                       .to({Slot::word})
                       .with([=](ir::Operation& op) { op.rounding = mode; }),
                   {Type::f32, Type::f32}, [=](const LaneInput& in) {
                     return bits_of_value(value_of(in.row[0], Type::f32), half, mode) << 16 |
                            bits_of_value(value_of(in.row[1], Type::f32), half, mode);
                   });
  }
}

TEST(ConvertSemantics, PackSaturatesIntoHalvesAndBytes) {
  for (const Type to : {Type::u16, Type::s16, Type::u8, Type::s8})
    for (const Type from : {Type::s32, Type::u32})
      for (const bool with_c : {false, true}) {
        if (with_c && bytes_of(to) == 2) continue;
        const unsigned count = with_c ? 3 : 2;
        expect_lanes(Builder(Opcode::cvt_pack, to, from)
                         .from(std::vector(count, Slot::word))
                         .to({Slot::word})
                         .with([](ir::Operation& op) { op.saturate = true; }),
                     std::vector(count, from), [=](const LaneInput& in) {
                       const auto part = [&](std::uint64_t bits) {
                         const Wide value = integer(bits, from);
                         return static_cast<std::uint64_t>(
                                    std::min(std::max(value, lowest(to)), highest(to))) &
                                width_mask(to);
                       };
                       const std::uint64_t low =
                           part(in.row[0]) << (8 * bytes_of(to)) | part(in.row[1]);
                       return with_c ? (in.row[2] << 16 & 0xffffffff) | low : low;
                     });
      }
}

}  // namespace
}  // namespace lockstep::isa::test::convert_test
