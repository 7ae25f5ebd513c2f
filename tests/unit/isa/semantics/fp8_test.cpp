/// 8-bit floating point: every code, and values between neighbours, against tables made from the
/// definition of the formats.
#include <bit>
#include <cmath>
#include <limits>

#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::fp8_test {
namespace {

LOCKSTEP_BOTH_FORMS(Fp8);

struct Format {
  const char* name;
  int exponent_bits, mantissa_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  bool is_nan(unsigned code) const {
    return exponent_bits == 4 ? (code & 0x7f) == 0x7f : (code & 0x7f) > 0x7c;
  }
  bool is_infinity(unsigned code) const { return exponent_bits == 5 && (code & 0x7f) == 0x7c; }
  double value(unsigned code) const {
    const int exponent = static_cast<int>(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const double fraction = (code & ((1u << mantissa_bits) - 1)) / std::ldexp(1, mantissa_bits);
    const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias())
                                           : std::ldexp(1 + fraction, exponent - bias());
    return code & 0x80 ? -magnitude : magnitude;
  }
  /// The nearest code, of two the even one; never infinity.
  unsigned nearest(double x) const {
    if (std::isnan(x)) return 0x7f;
    const unsigned sign = std::signbit(x) ? 0x80 : 0;
    unsigned best = 0;
    for (unsigned code = 0; code < 0x80 && !is_nan(code) && !is_infinity(code); ++code) {
      const double here = std::fabs(value(code) - std::fabs(x));
      const double least = std::fabs(value(best) - std::fabs(x));
      if (here < least || (here == least && code % 2 == 0)) best = code;
    }
    if (std::isinf(x)) best = exponent_bits == 4 ? 0x7e : 0x7b;
    return sign | best;
  }
};
constexpr Format e4m3{"e4m3", 4, 3}, e5m2{"e5m2", 5, 2};

std::vector<float> interesting(const Format& format) {
  std::vector<float> list{0.0f,
                          -0.0f,
                          1e6f,
                          -1e6f,
                          1e-30f,
                          std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  for (unsigned code = 0; code < 0x7f; ++code) {
    if (format.is_nan(code + 1) || format.is_infinity(code + 1)) continue;
    const auto low = static_cast<float>(format.value(code));
    const auto high = static_cast<float>(format.value(code + 1)), middle = (low + high) / 2;
    for (const float x : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      list.push_back(x);
      list.push_back(-x);
    }
  }
  for (const float x : {449.0f, 464.0f, 465.0f, 480.0f, 57345.0f, 61440.0f, 61441.0f})
    list.push_back(x);
  while (list.size() % 32 != 0) list.push_back(1.0f);
  return list;
}

/// One 32-bit result for each 32-bit input.
std::vector<std::uint32_t> run(const std::string& instructions,
                               const std::vector<std::uint32_t>& inputs, bool lowered) {
  const std::string text = kernel_text(R"(
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r1, %r2, 32, %r1;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd2, %rd1, %rd2;
ld.global.b32 %r3, [%rd2];
)" + instructions + "\nst.global.u32 [%rd2], %r5;\nret;");
  IsaBench bench(text, lowered);
  const std::uint64_t out = bench.buffer(inputs);
  bench.run("k", {static_cast<std::uint32_t>(inputs.size() / 32), 1, 1}, {32, 1, 1}, out);
  return bench.values<std::uint32_t>(out, inputs.size());
}

TEST_P(Fp8, FloatsRoundToTheNearestCode) {
  for (const Format& format : {e4m3, e5m2})
    for (const bool relu : {false, true}) {
      const std::vector<float> values = interesting(format);
      std::vector<std::uint32_t> inputs;
      for (const float x : values) inputs.push_back(std::bit_cast<std::uint32_t>(x));
      // The value above, one below.
      const auto got = run(std::string("mov.b32 %f1, %r3;\nmov.f32 %f2, 0f3F800000;\n"
                                       "cvt.rn.satfinite") +
                               (relu ? ".relu." : ".") + format.name +
                               "x2.f32 %rs1, %f1, %f2;\ncvt.u32.u16 %r5, %rs1;",
                           inputs, GetParam());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = relu && !(values[i] > 0) && !std::isnan(values[i]) ? 0.0 : values[i];
        EXPECT_EQ(got[i], format.nearest(x) << 8 | format.nearest(1))
            << format.name << " " << values[i];
      }
    }
}

TEST_P(Fp8, EveryCodeBecomesAHalfAndComesBack) {
  for (const Format& format : {e4m3, e5m2}) {
    std::vector<std::uint32_t> inputs;
    for (unsigned code = 0; code < 256; ++code) inputs.push_back(code | (255 - code) << 8);
    const std::string name = std::string(format.name) + "x2";
    const auto wide =
        run("cvt.u16.u32 %rs1, %r3;\ncvt.rn.f16x2." + name + " %r5, %rs1;", inputs, GetParam());
    const auto back =
        run("cvt.u16.u32 %rs1, %r3;\ncvt.rn.f16x2." + name + " %r5, %rs1;\ncvt.rn.satfinite." +
                name + ".f16x2 %rs2, %r5;\ncvt.u32.u16 %r5, %rs2;",
            inputs, GetParam());
    for (unsigned code = 0; code < 256; ++code) {
      const std::uint32_t half = wide[code] & 0xffff;
      EXPECT_EQ(wide[255 - code] >> 16, half);
      if (format.is_nan(code)) {
        EXPECT_EQ(half, 0x7fffu);
        EXPECT_EQ(back[code] & 0xff, 0x7fu);
      } else if (format.is_infinity(code)) {
        EXPECT_EQ(half, code << 8);
        EXPECT_EQ(back[code] & 0xff, (code & 0x80) | 0x7b);
      } else {
        const int exponent = static_cast<int>(half >> 10) & 31;
        const double fraction = (half & 0x3ff) / 1024.0;
        const double value =
            exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
        EXPECT_EQ(half & 0x8000 ? -value : value, format.value(code)) << code;
        EXPECT_EQ(back[code] & 0xff, code);
      }
    }
  }
}

TEST_P(Fp8, HalvesStayFiniteWhereAsked) {
  const auto got =
      run("mov.b32 %f1, %r3;\ncvt.rn.satfinite.f16.f32 %rs1, %f1;\n"
          "cvt.rn.satfinite.bf16x2.f32 %r6, %f1, %f1;\ncvt.u32.u16 %r5, %rs1;\n"
          "and.b32 %r6, %r6, 0xffff0000;\nor.b32 %r5, %r5, %r6;",
          std::vector<std::uint32_t>(32, 0xff800000), GetParam());
  EXPECT_EQ(got[0], 0xff7ffbffu);
}

TEST(Fp8Errors, WhatPtxDoesNotHaveIsRefused) {
  for (const std::string text :
       {"cvt.rn.e4m3x2.f32 %rs1, %f1, %f2", "cvt.rz.satfinite.e4m3x2.f32 %rs1, %f1, %f2",
        "cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1", "cvt.rn.f32.e4m3x2 %f1, %rs1",
        "cvt.rn.satfinite.f32.f64 %f1, %rd1"})
    EXPECT_THROW(IsaBench(kernel_text(text + ";\nret;")), UserError) << text;
}

}  // namespace
}  // namespace lockstep::isa::fp8_test
