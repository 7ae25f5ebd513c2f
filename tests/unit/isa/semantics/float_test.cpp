#include <cfenv>
#include <limits>

#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::float_test {
namespace {

constexpr std::uint64_t nan32 = 0x7fffffff, nan64 = 0x7ff8000000000000, nan16 = 0x7fff;

int mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz:
      return FE_TOWARDZERO;
    case Rounding::rm:
      return FE_DOWNWARD;
    case Rounding::rp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}
/// The processor's own arithmetic under the wanted rounding mode.
template <class T>
T in_mode(Rounding rounding, Opcode opcode, T a, T b, T c) {
  volatile T x = a, y = b, z = c, result = 0;
  std::fesetround(mode_of(rounding));
  switch (opcode) {
    case Opcode::add:
      result = x + y;
      break;
    case Opcode::sub:
      result = x - y;
      break;
    case Opcode::mul:
      result = x * y;
      break;
    case Opcode::fma:
    case Opcode::mad:
      result = std::fma(x, y, z);
      break;
    case Opcode::div:
      result = x / y;
      break;
    case Opcode::rcp:
      result = T{1} / x;
      break;
    default:
      result = std::sqrt(x);
  }
  std::fesetround(FE_TONEAREST);
  return result;
}
unsigned arguments(Opcode opcode) {
  if (opcode == Opcode::fma || opcode == Opcode::mad) return 3;
  return opcode == Opcode::rcp || opcode == Opcode::sqrt ? 1 : 2;
}
constexpr Opcode arithmetic[] = {Opcode::add, Opcode::sub, Opcode::mul, Opcode::fma,
                                 Opcode::mad, Opcode::div, Opcode::rcp, Opcode::sqrt};
constexpr Rounding roundings[] = {Rounding::none, Rounding::rn, Rounding::rz, Rounding::rm,
                                  Rounding::rp};

std::uint64_t flush32(std::uint64_t bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}
float clamp01(float v) {
  return std::isnan(v) || v <= 0 ? 0.0F : v > 1 ? 1.0F : v;
}

TEST(FloatSemantics, SinglePrecisionInEveryModeWithFlushAndSaturation) {
  for (const Opcode opcode : arithmetic)
    for (const Rounding rounding : roundings)
      for (const bool flush : {false, true})
        for (const bool saturate : {false, true}) {
          const unsigned count = arguments(opcode);
          expect_lanes(
              Builder(opcode, Type::f32)
                  .from(std::vector(count, Slot::word))
                  .to({Slot::word})
                  .with([=](ir::Operation& op) {
                    op.rounding = rounding;
                    op.flush = flush;
                    op.saturate = saturate;
                  }),
              std::vector(count, Type::f32),
              [=](const LaneInput& in) {
                const auto read = [&](unsigned k) {
                  return as_float(flush ? flush32(in.row[k]) : in.row[k]);
                };
                float value = in_mode(rounding, opcode, read(0), read(1), read(2));
                if (saturate) value = clamp01(value);
                if (std::isnan(value)) return nan32;
                return flush ? flush32(bits_of(value)) : bits_of(value);
              },
              150);
        }
}

TEST(FloatSemantics, DoublePrecisionInEveryMode) {
  for (const Opcode opcode : arithmetic)
    for (const Rounding rounding : roundings) {
      const unsigned count = arguments(opcode);
      expect_lanes(
          Builder(opcode, Type::f64)
              .from(std::vector(count, Slot::pair))
              .to({Slot::pair})
              .with([=](ir::Operation& op) { op.rounding = rounding; }),
          std::vector(count, Type::f64),
          [=](const LaneInput& in) {
            const double value = in_mode(rounding, opcode, as_double(in.row[0]),
                                         as_double(in.row[1]), as_double(in.row[2]));
            return std::isnan(value) ? nan64 : bits_of(value);
          },
          300);
    }
}

/// c is nearly -a*b, so that almost everything cancels.
TEST(FloatSemantics, FusedMultiplyAddKeepsTheRestOfAProduct) {
  Values values(11);
  for (unsigned round = 0; round < 500; ++round)
    for (const CpuLevel level : levels()) {
      const Builder single =
          Builder(Opcode::fma, Type::f32).from(std::vector(3, Slot::word)).to({Slot::word});
      const Builder twice =
          Builder(Opcode::fma, Type::f64).from(std::vector(3, Slot::pair)).to({Slot::pair});
      Instruction f32, f64;
      ASSERT_TRUE(single.bind(f32, level) && twice.bind(f64, level));
      LaneMachine machine;
      Lanes a, b, c;
      for (unsigned i = 0; i < warp_size; ++i) {
        a[i] = values(Type::f32);
        b[i] = values(Type::f32);
        c[i] = bits_of(-(as_float(a[i]) * as_float(b[i]))) + values.raw() % 3;
      }
      machine.set(0, Slot::word, a);
      machine.set(2, Slot::word, b);
      machine.set(4, Slot::word, c);
      f32.execute(f32, machine.context);
      const Lanes got = machine.get(16, Slot::word);
      for (unsigned i = 0; i < warp_size; ++i) {
        const float want = std::fma(as_float(a[i]), as_float(b[i]), as_float(c[i]));
        ASSERT_EQ(got[i], std::isnan(want) ? nan32 : bits_of(want)) << a[i] << " " << b[i];
      }
      for (unsigned i = 0; i < warp_size; ++i) {
        a[i] = values(Type::f64);
        b[i] = values(Type::f64);
        c[i] = bits_of(-(as_double(a[i]) * as_double(b[i]))) + values.raw() % 3;
      }
      machine.set(0, Slot::pair, a);
      machine.set(2, Slot::pair, b);
      machine.set(4, Slot::pair, c);
      f64.execute(f64, machine.context);
      const Lanes wide = machine.get(16, Slot::pair);
      for (unsigned i = 0; i < warp_size; ++i) {
        const double want = std::fma(as_double(a[i]), as_double(b[i]), as_double(c[i]));
        ASSERT_EQ(wide[i], std::isnan(want) ? nan64 : bits_of(want)) << a[i] << " " << b[i];
      }
    }
}

/// Exact value of a half, and rounding of an exact value to the nearest half by search.
struct HalfFormat {
  Type single, pair;
  int mantissa;
  double value(std::uint64_t bits) const {
    const int exponent_bits = 15 - mantissa, bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(bits >> mantissa & ((1U << exponent_bits) - 1));
    const double fraction = static_cast<double>(bits & ((1U << mantissa) - 1));
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
      return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
    return sign * std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
  }
  std::uint64_t infinity() const { return 0x7fffu >> mantissa << mantissa; }
  /// Of magnitudes 0 ... infinity, the nearest; ties to the even one; half way beyond the largest
  /// is infinity.
  std::uint64_t round(long double exact) const {
    if (std::isnan(exact)) return nan16;
    const std::uint64_t sign = std::signbit(exact) ? 0x8000 : 0;
    const long double magnitude = std::fabs(exact);
    std::uint64_t low = 0, high = infinity();
    while (high - low > 1) {
      const std::uint64_t middle = (low + high) / 2;
      (static_cast<long double>(value(middle)) <= magnitude ? low : high) = middle;
    }
    const long double below = value(low);
    // As if the exponent range went on.
    const long double above =
        high == infinity() ? 2 * below - static_cast<long double>(value(low - 1)) : value(high);
    const long double left = magnitude - below, right = above - magnitude;
    if (std::isinf(exact)) return sign | infinity();
    return sign | (left < right || (left == right && low % 2 == 0) ? low : high);
  }
};
constexpr HalfFormat formats[] = {{Type::f16, Type::f16x2, 10}, {Type::bf16, Type::bf16x2, 7}};

long double half_exact(Opcode opcode, double a, double b, double c) {
  // A product of halves has at most 22 bits; the sum with a distant term is kept on the right side
  // of any tie by one bit (long double has 64).
  switch (opcode) {
    case Opcode::add:
      return static_cast<long double>(a) + b;
    case Opcode::sub:
      return static_cast<long double>(a) - b;
    case Opcode::mul:
      return static_cast<long double>(a) * b;
    default: {
      const long double product = static_cast<long double>(a) * b, sum = product + c;
      const long double part = sum - product;
      const long double error = (product - (sum - part)) + (c - part);
      if (!(error > 0) && !(error < 0)) return sum;
      return std::nextafter(sum, error > 0 ? std::numeric_limits<long double>::infinity()
                                           : -std::numeric_limits<long double>::infinity());
    }
  }
}

TEST(FloatSemantics, HalvesSingleAndInPairs) {
  for (const HalfFormat& format : formats)
    for (const Opcode opcode : {Opcode::add, Opcode::sub, Opcode::mul, Opcode::fma})
      for (const bool pair : {false, true})
        for (const unsigned variant : {0u, 1u, 2u, 3u}) {  // plain, ftz, sat, relu
          const unsigned count = opcode == Opcode::fma ? 3 : 2;
          const Type type = pair ? format.pair : format.single;
          const auto flush = [&](std::uint64_t bits) {
            return variant == 1 && (bits & format.infinity()) == 0 ? bits & 0x8000 : bits;
          };
          const auto half = [&](const LaneInput& in, unsigned shift) -> std::uint64_t {
            const auto read = [&](unsigned k) {
              return format.value(flush(in.row[k] >> shift & 0xffff));
            };
            long double exact = half_exact(opcode, read(0), read(1), read(2));
            if (variant == 2) exact = std::isnan(exact) || exact <= 0 ? 0 : exact > 1 ? 1 : exact;
            if (variant == 3 && exact <= 0) exact = 0;
            return flush(format.round(exact));
          };
          expect_lanes(Builder(opcode, type)
                           .from(std::vector(count, Slot::word))
                           .to({Slot::word})
                           .with([=](ir::Operation& op) {
                             op.flush = variant == 1;
                             op.saturate = variant == 2;
                             op.relu = variant == 3;
                           }),
                       std::vector(count, type), [&](const LaneInput& in) {
                         return pair ? half(in, 0) | half(in, 16) << 16 : half(in, 0);
                       });
        }
}

TEST(FloatSemantics, MinimumAndMaximumIgnoreNanUnlessTold) {
  for (const Type type : {Type::f32, Type::f64, Type::f16, Type::bf16}) {
    const HalfFormat& format = type == Type::bf16 ? formats[1] : formats[0];
    const auto value = [&](std::uint64_t bits) {
      return type == Type::f32   ? double{as_float(bits)}
             : type == Type::f64 ? as_double(bits)
                                 : format.value(bits);
    };
    const std::uint64_t canonical = type == Type::f32 ? nan32 : type == Type::f64 ? nan64 : nan16;
    const std::uint64_t sign = std::uint64_t{1} << (8 * bytes_of(type) - 1);
    for (const Opcode opcode : {Opcode::min, Opcode::max})
      for (const bool nan : {false, true}) {
        if (nan && type == Type::f64) continue;
        const Slot slot = slot_of(type);
        expect_lanes(
            Builder(opcode, type).from({slot, slot}).to({slot}).with([=](auto& op) {
              op.nan = nan;
            }),
            {type, type},
            [&](const LaneInput& in) {
              const double a = value(in.row[0]), b = value(in.row[1]);
              if (std::isnan(a) && std::isnan(b)) return canonical;
              if (std::isnan(a) || std::isnan(b))
                return nan ? canonical : std::isnan(a) ? in.row[1] : in.row[0];
              if (a == b) {
                const bool first_negative = (in.row[0] & sign) != 0;
                return (opcode == Opcode::min) == first_negative ? in.row[0] : in.row[1];
              }
              return (a < b) == (opcode == Opcode::min) ? in.row[0] : in.row[1];
            },
            200);
      }
  }
}

TEST(FloatSemantics, SignsChangeWithoutTouchingTheRest) {
  for (const Type type : {Type::f32, Type::f64, Type::f16, Type::bf16}) {
    const Slot slot = slot_of(type);
    const std::uint64_t sign = std::uint64_t{1} << (8 * bytes_of(type) - 1);
    expect_lanes(Builder(Opcode::neg, type).from({slot}).to({slot}), {type},
                 [=](const LaneInput& in) { return in.row[0] ^ sign; });
    expect_lanes(Builder(Opcode::abs, type).from({slot}).to({slot}), {type},
                 [=](const LaneInput& in) { return in.row[0] & ~sign; });
    if (type == Type::f32 || type == Type::f64)
      expect_lanes(Builder(Opcode::copysign, type).from({slot, slot}).to({slot}), {type, type},
                   [=](const LaneInput& in) { return (in.row[0] & sign) | (in.row[1] & ~sign); });
  }
  expect_lanes(
      Builder(Opcode::abs, Type::f32).from({Slot::word}).to({Slot::word}).with([](auto& op) {
        op.flush = true;
      }),
      {Type::f32}, [](const LaneInput& in) { return flush32(in.row[0]) & 0x7fffffff; });
}

}  // namespace
}  // namespace lockstep::isa::test::float_test
