#include <limits>

#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::approximate_test {
namespace {

/// All results of a unary instruction on many inputs, at every level (which must agree).
template <class Visit>
void for_results(const Builder& builder, Type type, const std::vector<std::uint64_t>& inputs,
                 const Visit& visit) {
  const Slot slot = slot_of(type);
  for (std::size_t start = 0; start < inputs.size(); start += warp_size) {
    Lanes lanes{};
    for (std::size_t i = 0; i < warp_size; ++i)
      lanes[i] = inputs[std::min(start + i, inputs.size() - 1)];
    Lanes first{};
    for (const CpuLevel level : levels()) {
      Instruction instruction;
      ASSERT_TRUE(builder.bind(instruction, level)) << describe(builder.operation);
      LaneMachine machine;
      machine.set(0, slot, lanes);
      instruction.execute(instruction, machine.context);
      const Lanes result = machine.get(16, slot);
      if (level == CpuLevel::v2) first = result;
      ASSERT_EQ(result, first) << "levels differ";
    }
    for (std::size_t i = 0; i < warp_size; ++i) visit(lanes[i], first[i]);
    if (::testing::Test::HasFatalFailure()) return;
  }
}
Builder approximate(Opcode opcode, Type type, bool flush = false) {
  return Builder(opcode, type).from({slot_of(type)}).to({slot_of(type)}).with([=](auto& op) {
    op.approximate = true;
    op.flush = flush;
  });
}
std::vector<std::uint64_t> between(float low, float high, unsigned count) {
  std::vector<std::uint64_t> result;
  for (unsigned k = 0; k <= count; ++k)
    result.push_back(
        bits_of(low + (high - low) * static_cast<float>(k) / static_cast<float>(count)));
  return result;
}
std::vector<std::uint64_t> any(Type type, unsigned count, std::uint64_t seed) {
  Values values(seed);
  std::vector<std::uint64_t> result;
  for (unsigned k = 0; k < count; ++k) result.push_back(values(type));
  return result;
}
/// In units of the last place of the f32 nearest to `exact`.
double ulps(float got, double exact) {
  const float nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : 1e9;
  const double smallest = std::ldexp(1.0, -149);
  const double ulp =
      nearest == 0 ? smallest : std::max(std::ldexp(1.0, std::ilogb(nearest) - 23), smallest);
  return std::fabs(got - exact) / ulp;
}
/// Every input: NaN where the exact function is, otherwise within `bound` ulps.
void expect_ulps(Opcode opcode, double (*exact)(double), double bound,
                 const std::vector<std::uint64_t>& inputs) {
  for_results(approximate(opcode, Type::f32), Type::f32, inputs,
              [&](std::uint64_t in, std::uint64_t out) {
                const double want = exact(as_float(in));
                if (std::isnan(want)) {
                  ASSERT_EQ(out, 0x7fffffffu) << as_float(in);
                  return;
                }
                ASSERT_LE(ulps(as_float(out), want), bound) << std::hexfloat << as_float(in);
                ASSERT_EQ(out >> 31, std::signbit(want) ? 1u : 0u) << as_float(in);
              });
}

TEST(ApproximateSemantics, ReciprocalRootsAndPowers) {
  std::vector<std::uint64_t> inputs = any(Type::f32, 40000, 1);
  expect_ulps(
      Opcode::rcp, [](double x) { return 1 / x; }, 1, inputs);
  expect_ulps(
      Opcode::sqrt, [](double x) { return std::sqrt(x); }, 1, inputs);
  expect_ulps(
      Opcode::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1, inputs);
  const auto range = between(-155, 130, 60000);
  inputs.insert(inputs.end(), range.begin(), range.end());
  expect_ulps(
      Opcode::ex2, [](double x) { return std::exp2(x); }, 1, inputs);
}

TEST(ApproximateSemantics, LogarithmIsAccurateAlsoNearOne) {
  std::vector<std::uint64_t> inputs = any(Type::f32, 40000, 2);
  const auto range = between(0.5F, 2, 40000);
  inputs.insert(inputs.end(), range.begin(), range.end());
  expect_ulps(
      Opcode::lg2, [](double x) { return std::log2(x); }, 1, inputs);
}

TEST(ApproximateSemantics, SineAndCosine) {
  const auto check = [](Opcode opcode, double (*exact)(double), const auto& inputs, double bound) {
    for_results(approximate(opcode, Type::f32), Type::f32, inputs,
                [&](std::uint64_t in, std::uint64_t out) {
                  ASSERT_LE(std::fabs(as_float(out) - exact(as_float(in))), bound) << as_float(in);
                });
  };
  for (const auto& inputs : {between(-3.1415927F, 3.1415927F, 100000), between(-1e4F, 1e4F, 50000),
                             between(-2e9F, 2e9F, 50000)}) {
    check(
        Opcode::sin, [](double x) { return std::sin(x); }, inputs, std::exp2(-23));
    check(
        Opcode::cos, [](double x) { return std::cos(x); }, inputs, std::exp2(-23));
  }
  // Small arguments keep their relative accuracy and their sign.
  expect_ulps(
      Opcode::sin, [](double x) { return std::sin(x); }, 1, between(-1e-3F, 1e-3F, 1000));
}

TEST(ApproximateSemantics, HyperbolicTangent) {
  std::vector<std::uint64_t> inputs = any(Type::f32, 40000, 3);
  const auto range = between(-12, 12, 40000);
  inputs.insert(inputs.end(), range.begin(), range.end());
  expect_ulps(
      Opcode::tanh, [](double x) { return std::tanh(x); }, 1.5, inputs);
}

TEST(ApproximateSemantics, SpecialArguments) {
  const float inf = std::numeric_limits<float>::infinity();
  struct Case {
    Opcode opcode;
    float in;
    std::uint64_t out;
  };
  const std::uint64_t nan = 0x7fffffff, minus_zero = 0x80000000;
  for (const Case c : {Case{Opcode::sin, inf, nan},
                       {Opcode::cos, -inf, nan},
                       {Opcode::sin, -0.0F, minus_zero},
                       {Opcode::cos, 0.0F, bits_of(1.0F)},
                       {Opcode::lg2, 0.0F, bits_of(-inf)},
                       {Opcode::lg2, -0.0F, bits_of(-inf)},
                       {Opcode::lg2, -1.0F, nan},
                       {Opcode::lg2, inf, bits_of(inf)},
                       {Opcode::lg2, 1.0F, 0},
                       {Opcode::ex2, -inf, 0},
                       {Opcode::ex2, inf, bits_of(inf)},
                       {Opcode::ex2, 0.0F, bits_of(1.0F)},
                       {Opcode::ex2, 3.0F, bits_of(8.0F)},
                       {Opcode::rcp, -0.0F, bits_of(-inf)},
                       {Opcode::rcp, inf, 0},
                       {Opcode::rsqrt, 0.0F, bits_of(inf)},
                       {Opcode::rsqrt, -0.0F, bits_of(-inf)},
                       {Opcode::rsqrt, -2.0F, nan},
                       {Opcode::sqrt, -0.0F, minus_zero},
                       {Opcode::tanh, inf, bits_of(1.0F)},
                       {Opcode::tanh, -0.0F, minus_zero}})
    for_results(approximate(c.opcode, Type::f32), Type::f32, {bits_of(c.in)},
                [&](std::uint64_t, std::uint64_t out) {
                  ASSERT_EQ(out, c.out) << static_cast<int>(c.opcode) << " of " << c.in;
                });
}

TEST(ApproximateSemantics, FlushedArgumentsAndResults) {
  const std::uint64_t subnormal = 0x00400000;
  const auto expect = [](Opcode opcode, std::uint64_t in, std::uint64_t want) {
    for_results(approximate(opcode, Type::f32, true), Type::f32, {in},
                [&](std::uint64_t, std::uint64_t out) { ASSERT_EQ(out, want); });
  };
  expect(Opcode::rcp, subnormal, 0x7f800000);
  expect(Opcode::rsqrt, subnormal | 0x80000000, 0xff800000);
  expect(Opcode::lg2, subnormal, 0xff800000);
  expect(Opcode::ex2, bits_of(-130.0F), 0);
  expect(Opcode::sin, subnormal | 0x80000000, 0x80000000);
}

TEST(ApproximateSemantics, DivisionWithinTwoUlps) {
  for (const bool full : {false, true}) {
    Values values(5);
    for (unsigned round = 0; round < 1000; ++round) {
      const Lanes a = values.lanes(Type::f32), b = values.lanes(Type::f32);
      for (const CpuLevel level : levels()) {
        Instruction instruction;
        ASSERT_TRUE(Builder(Opcode::div, Type::f32)
                        .from({Slot::word, Slot::word})
                        .to({Slot::word})
                        .with([=](auto& op) {
                          op.approximate = !full;
                          op.full = full;
                        })
                        .bind(instruction, level));
        LaneMachine machine;
        machine.set(0, Slot::word, a);
        machine.set(2, Slot::word, b);
        instruction.execute(instruction, machine.context);
        for (unsigned i = 0; i < warp_size; ++i) {
          const float x = as_float(a[i]), y = as_float(b[i]);
          const float got = as_float(machine.get(16, Slot::word)[i]);
          const float size = std::fabs(y);
          if (!full && !(size >= 0x1p-126F && size <= 0x1p126F)) {
            if (!(size > 0x1p126F) || !std::isfinite(x) || !std::isfinite(y)) continue;
            ASSERT_EQ(got, 0.0F);
            continue;
          }
          const double want = static_cast<double>(x) / y;
          if (std::isnan(want)) {
            ASSERT_TRUE(std::isnan(got));
          } else {
            ASSERT_LE(ulps(got, want), 2) << x << " / " << y;
          }
        }
      }
    }
  }
}

TEST(ApproximateSemantics, DoubleReciprocalsGiveTheirUpperHalf) {
  for (const Opcode opcode : {Opcode::rcp, Opcode::rsqrt})
    for_results(approximate(opcode, Type::f64, true), Type::f64, any(Type::f64, 20000, 6),
                [&](std::uint64_t in, std::uint64_t out) {
                  const double x = as_double(in);
                  const bool small = std::fabs(x) < 0x1p-1022;
                  const double flushed = small ? std::copysign(0.0, x) : x;
                  const double want = 1 / (opcode == Opcode::rcp ? flushed : std::sqrt(flushed));
                  if (std::isnan(want)) {
                    ASSERT_EQ(out, 0x7ff8000000000000u);
                    return;
                  }
                  ASSERT_EQ(out & 0xffffffff, 0u);
                  if (std::isinf(want) || std::fabs(want) < 0x1p-1022) return;
                  ASSERT_LE(std::fabs(as_double(out) / want - 1), std::exp2(-20));
                });
}

TEST(ApproximateSemantics, HalvesAreRoundedFromDouble) {
  for (const bool brain : {false, true}) {
    std::vector<std::uint64_t> inputs;
    for (std::uint64_t bits = 0; bits < 0x10000; ++bits) inputs.push_back(bits);
    const int mantissa = brain ? 7 : 10, least = brain ? -126 : -14;
    const auto value = [=](std::uint64_t bits) {
      if (brain) return double{as_float(bits << 16)};
      const int exponent = static_cast<int>(bits >> 10 & 31);
      const double fraction = static_cast<double>(bits & 1023), sign = bits >> 15 != 0 ? -1 : 1;
      if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
      return sign * std::ldexp(fraction + (exponent != 0 ? 1024 : 0), std::max(exponent, 1) - 25);
    };
    for (const Opcode opcode : {Opcode::ex2, Opcode::tanh})
      for_results(approximate(opcode, brain ? Type::bf16 : Type::f16), Type::f16, inputs,
                  [&](std::uint64_t in, std::uint64_t out) {
                    const double x = value(in), got = value(out);
                    const double want = opcode == Opcode::ex2 ? std::exp2(x) : std::tanh(x);
                    if (std::isnan(want)) {
                      ASSERT_EQ(out, 0x7fffu);
                      return;
                    }
                    if (std::isinf(got)) {
                      ASSERT_GE(want, brain ? 0x1.ffp127 : 65519.0);
                      return;
                    }
                    const double ulp =
                        std::ldexp(1.0, std::max(std::ilogb(want), least) - mantissa);
                    ASSERT_LE(std::fabs(got - want), 0.501 * ulp) << x;
                  });
  }
}

}  // namespace
}  // namespace lockstep::isa::test::approximate_test
