/// What distinguishes the sums of tensor cores, by values that show it.
#include "tests/unit/isa/matrix/codes.hpp"
#include "tests/unit/isa/matrix/matrix_bench.hpp"
#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::sums_test {
namespace {

using enum MatrixElement;
using enum MatrixArithmetic;

constexpr std::uint64_t infinity32 = 0x7f800000, nan32 = 0x7fffffff, nan16 = 0x7fff;

/// One element of D: c + the products a[k] b[k], all else zero; the same at every level.
std::uint64_t sum(const MatrixForm& form, std::uint64_t c, const std::vector<std::uint64_t>& a,
                  const std::vector<std::uint64_t>& b) {
  Matrix left(form.m, form.k), right(form.k, form.n), addend(form.m, form.n);
  for (unsigned k = 0; k < a.size(); ++k) {
    left(0, k) = a[k];
    right(k, 0) = b[k];
  }
  addend(0, 0) = c;
  std::uint64_t result = 0;
  for (const CpuLevel level : levels()) {
    const Matrix d = product(form, left, right, addend, level);
    if (level != CpuLevel::v2) {
      EXPECT_EQ(d(0, 0), result) << static_cast<int>(level);
    }
    result = d(0, 0);
  }
  return result;
}
/// From values, which the types hold.
double value_sum(const MatrixForm& form, double c, const std::vector<double>& a,
                 const std::vector<double>& b) {
  std::vector<std::uint64_t> left, right;
  for (const double x : a) left.push_back(code_of(x, form.a));
  for (const double x : b) right.push_back(code_of(x, form.b));
  return value_of(sum(form, code_of(c, form.c), left, right), form.d);
}
std::vector<double> times(unsigned count, double value) {
  return std::vector<double>(count, value);
}
MatrixForm with(MatrixForm form, MatrixArithmetic arithmetic) {
  form.arithmetic = arithmetic;
  return form;
}
const MatrixForm k16 = mma_form(16, 8, 16, f16, MatrixResult::f32);
const MatrixForm quads = mma_form(8, 8, 4, f16, MatrixResult::f32);

TEST(MatrixSums, KeepMoreBitsWithEveryGeneration) {
  const auto four = times(4, 0x1p-12);
  EXPECT_EQ(value_sum(with(quads, volta), 1, four, four), 1);
  EXPECT_EQ(value_sum(with(quads, turing), 1, four, four), 1 + 0x1p-22);
  EXPECT_EQ(value_sum(with(k16, ampere), 1, four, four), 1 + 0x1p-22);
  const auto small = times(8, 0x1p-12), smaller = times(8, 0x1p-13);
  EXPECT_EQ(value_sum(with(k16, ampere), 1, small, smaller), 1);
  EXPECT_EQ(value_sum(with(k16, hopper), 1, small, smaller), 1 + 0x1p-22);
}

TEST(MatrixSums, AreRoundedBetweenGroups) {
  // Half a unit of the last place in each of two groups: one group of sixteen keeps the sum.
  auto a = times(16, 0);
  a[0] = a[8] = 0x1p-12;
  const auto b = times(16, 0x1p-12);
  EXPECT_EQ(value_sum(with(k16, ampere), 1, a, b), 1);
  EXPECT_EQ(value_sum(with(k16, hopper), 1, a, b), 1 + 0x1p-23);
  // wmma of tf32 has groups of four on Hopper too.
  auto c = times(8, 0);
  c[0] = c[4] = 0x1p-12;
  const auto d = times(8, 0x1p-12);
  const MatrixForm mma = mma_form(16, 8, 8, tf32, MatrixResult::f32);
  const MatrixForm wmma = wmma_form(16, 16, 8, tf32, MatrixResult::f32);
  EXPECT_EQ(value_sum(with(mma, hopper), 1, c, d), 1 + 0x1p-23);
  EXPECT_EQ(value_sum(with(wmma, hopper), 1, c, d), 1);
}

TEST(MatrixSums, AreTruncatedInF32AndRoundedToNearestInF16) {
  EXPECT_EQ(value_sum(k16, 1, {0x1p-12}, {0x1.8p-12}), 1);
  EXPECT_EQ(value_sum(k16, -1, {-0x1p-12}, {0x1.8p-12}), -1);
  const MatrixForm halves = mma_form(16, 8, 16, f16, MatrixResult::f16);
  EXPECT_EQ(value_sum(halves, 1, {0x1p-11}, {1}), 1) << "a tie, to even";
  EXPECT_EQ(value_sum(halves, 1, {0x1.8p-11}, {1}), 1 + 0x1p-10);
  EXPECT_EQ(value_sum(halves, 1 + 0x1p-10, {0x1p-11}, {1}), 1 + 0x1p-9) << "a tie, to even";
}

TEST(MatrixSums, AddExponentsWithoutNormalising) {
  // 1.5 * 1.5 = 2.25 has exponent 0: a unit is 2^-24, not 2^-23.
  EXPECT_EQ(value_sum(k16, 0, {1.5, -1.5, 0x1p-12}, {1.5, 1.5, 0x1p-12}), 0x1p-24);
  // Half as large, from other exponents: the same products of 2.25 with exponent 1.
  EXPECT_EQ(value_sum(k16, 0, {1.125, -1.125, 0x1p-12}, {2, 2, 0x1p-12}), 0);
}

TEST(MatrixSums, TakeSubnormalsAsTheyAre) {
  EXPECT_EQ(value_sum(k16, 0, {0x1p-24}, {0x1p-24}), 0x1p-48);
  const MatrixForm bf = mma_form(16, 8, 16, bf16, MatrixResult::f32);
  EXPECT_EQ(value_sum(bf, 0x1p-149, {0x1p-133}, {0x1p-16}), 0x1p-148);
  EXPECT_EQ(value_sum(bf, 0, {0x1p-133}, {0x1p-17}), 0) << "below the least subnormal";
}

TEST(MatrixSums, OfAZeroProductHaveNoExponentFromIt) {
  const MatrixForm bf = mma_form(16, 8, 16, bf16, MatrixResult::f32);
  EXPECT_EQ(value_sum(bf, 0x1p-20, {0, 1}, {0x1p127, 0x1p-20}), 0x1p-19);
}

TEST(MatrixSums, ThatAreZeroArePositive) {
  EXPECT_EQ(sum(k16, 0x80000000, {0x8000}, {0x3c00}), 0U);
  EXPECT_EQ(sum(k16, 0xbf800000, {0x3c00}, {0x3c00}), 0U);
}

TEST(MatrixSums, OverflowToInfinity) {
  const MatrixForm bf = mma_form(16, 8, 16, bf16, MatrixResult::f32);
  const std::uint64_t large = code_of(0x1p127, bf16), two = code_of(2, bf16);
  EXPECT_EQ(sum(bf, 0, {large}, {two}), infinity32);
  EXPECT_EQ(sum(bf, 0, {large | 0x8000}, {two}), infinity32 | 0x80000000);
  EXPECT_EQ(sum(bf, 0x7f7fffff, {large}, {two | 0x8000}), code_of(-0x1p104, MatrixResult::f32))
      << "only the sum is rounded";
  const MatrixForm halves = mma_form(16, 8, 16, f16, MatrixResult::f16);
  EXPECT_EQ(sum(halves, 0, {0x7bff}, {0x3c01}), 0x7c00U);
  // What overflowed in the first group meets its opposite in the second.
  std::vector<std::uint64_t> a(16), b(16);
  a[0] = a[8] = large;
  b[0] = two;
  b[8] = code_of(-2, bf16);
  EXPECT_EQ(sum(bf, 0, a, b), infinity32);
  EXPECT_EQ(sum(bf, 0, {large, large}, {two, two | 0x8000}), 0U) << "one sum";
}

TEST(MatrixSums, AtTheEndsOfTheRangeOfF32AreExactToo) {
  for (const MatrixElement element : {bf16, tf32}) {
    const MatrixForm form = mma_form(16, 8, 8, element, MatrixResult::f32);
    EXPECT_EQ(value_sum(form, 0, {0x1p-60}, {0x1p-60}), 0x1p-120);
    EXPECT_EQ(value_sum(form, 0, {0x1p-70, 0x1p-70}, {0x1p-70, 0x1p-71}), 0x1.8p-140);
    EXPECT_EQ(value_sum(form, 0, {-0x1.8p-75}, {0x1p-75}), 0) << "below every subnormal";
    EXPECT_EQ(value_sum(form, 0x1p-149, {}, {}), 0x1p-149) << "C alone";
    EXPECT_EQ(value_sum(form, -0x1p-149, {0x1p-60}, {0x1p-60}), 0x1p-120);
    EXPECT_EQ(value_sum(form, 0, {0x1p127, -0x1p127}, {0x1p127, 0x1p127}), 0) << "past f32";
    EXPECT_EQ(value_sum(form, 0, {0x1p-126}, {0x1p126}), 1);
  }
}

TEST(MatrixSums, OfOneColumnDoNotTouchTheOthers) {
  const MatrixForm form = mma_form(16, 8, 8, bf16, MatrixResult::f32);
  Matrix left(form.m, form.k), right(form.k, form.n), addend(form.m, form.n);
  for (unsigned i = 0; i < form.m; ++i) left(i, 0) = code_of(i + 1, bf16);
  for (unsigned n = 0; n < form.n; ++n) right(0, n) = code_of(n + 1, bf16);
  right(0, 2) = code_of(0x1p-120, bf16);
  addend(3, 2) = code_of(0x1p-149, MatrixResult::f32);
  addend(4, 5) = infinity32;
  for (const CpuLevel level : levels()) {
    const Matrix d = product(form, left, right, addend, level);
    for (unsigned i = 0; i < form.m; ++i)
      for (unsigned n = 0; n < form.n; ++n) {
        const double factor = n == 2 ? 0x1p-120 : n + 1;
        if (i == 4 && n == 5)
          EXPECT_EQ(d(i, n), infinity32);
        else
          EXPECT_EQ(value_of(d(i, n), form.d), (i + 1) * factor) << i << " " << n;
      }
  }
}

TEST(MatrixSums, OfInfinitiesAndNaN) {
  for (const MatrixArithmetic arithmetic : {ampere, hopper}) {
    const MatrixForm form = with(k16, arithmetic);
    EXPECT_EQ(sum(form, 0, {0x7c00}, {0x3c00}), infinity32);
    EXPECT_EQ(sum(form, 0, {0x7c00}, {0xbc00}), infinity32 | 0x80000000);
    EXPECT_EQ(sum(form, 0, {0x7c00}, {0}), nan32);
    EXPECT_EQ(sum(form, 0, {0x7c00, 0xfc00}, {0x3c00, 0x3c00}), nan32);
    EXPECT_EQ(sum(form, infinity32, {0xfc00}, {0x3c00}), nan32);
    EXPECT_EQ(sum(form, 0xffc12345, {}, {}), nan32);
    EXPECT_EQ(sum(form, 0, {0xfe01}, {0}), nan32);
    EXPECT_EQ(sum(form, infinity32 | 0x80000000, {0x3c00}, {0x3c00}), infinity32 | 0x80000000);
  }
  const MatrixForm halves = mma_form(16, 8, 16, f16, MatrixResult::f16);
  EXPECT_EQ(sum(halves, 0x7c01, {}, {}), nan16);
  EXPECT_EQ(sum(halves, 0xfc00, {}, {}), 0xfc00U);
  const MatrixForm fp8 = with(mma_form(16, 8, 32, e4m3, MatrixResult::f32), ada);
  EXPECT_EQ(sum(fp8, 0, {0x7f}, {0}), nan32);
  EXPECT_EQ(value_sum(fp8, 0, {480 - 32}, {1}), 448) << "a number, where e5m2 has infinities";
}

TEST(MatrixSums, OfFp8KeepThirteenBitsOnAda) {
  const MatrixForm fp8 = mma_form(16, 8, 32, e4m3, MatrixResult::f32);
  EXPECT_EQ(value_sum(with(fp8, ada), 0x1p14 + 1, {1}, {1}), 0x1p14);
  EXPECT_EQ(value_sum(with(fp8, blackwell), 0x1p14 + 1, {1}, {1}), 0x1p14 + 2);
  EXPECT_EQ(value_sum(with(fp8, hopper), 0x1p14 + 1, {1}, {1}), 0x1p14 + 2);
  EXPECT_EQ(value_sum(with(fp8, ada), 0x1.fff8p0, {}, {}), 0x1.fff8p0);
  EXPECT_EQ(value_sum(with(fp8, ada), 0x1.fffcp0, {}, {}), 0x1.fff8p0);
}

TEST(MatrixSums, OfFp8OnHopperAddCAtLastToNearest) {
  const MatrixForm fp8 = with(mma_form(16, 8, 32, e4m3, MatrixResult::f32), hopper);
  EXPECT_EQ(value_sum(fp8, 0x1p24, {1.5}, {1}), 0x1p24 + 2) << "the nearest, not below";
  const MatrixForm f = with(mma_form(16, 8, 16, f16, MatrixResult::f32), hopper);
  EXPECT_EQ(value_sum(f, 0x1p24, {1.5}, {1}), 0x1p24);
}

TEST(MatrixSums, OfQuadPairsAreOrdinaryArithmeticSinceAmpere) {
  const auto ones = times(2, 0x1p-12);
  EXPECT_EQ(value_sum(with(quads, ampere), 1, ones, ones), 1 + 0x1p-23);
  EXPECT_EQ(value_sum(with(quads, ampere), 1, {0x1p-12}, {0x1.8p-12}), 1 + 0x1p-23) << "nearest";
}

TEST(MatrixSums, OfMixedAccumulatorsAreF32) {
  MatrixForm form = wmma_form(16, 16, 16, f16, MatrixResult::f32);
  form.d = MatrixResult::f16;
  EXPECT_EQ(value_sum(form, 0x1p-14 + 0x1p-30, {1}, {1}), 1);
  EXPECT_EQ(value_sum(form, 1 + 0x1p-11 + 0x1p-20, {}, {}), 1 + 0x1p-10);
  form.c = MatrixResult::f16;
  form.d = MatrixResult::f32;
  EXPECT_EQ(value_sum(form, 1, {0x1p-10}, {0x1p-10}), 1 + 0x1p-20);
}

TEST(MatrixSums, OfDoublesRoundAsTold) {
  MatrixForm form = mma_form(8, 8, 4, f64, MatrixResult::f64);
  const double above = 1 + 0x1p-52, below = 1 - 0x1p-53;
  EXPECT_EQ(value_sum(form, 1, {0x1p-60}, {1}), 1);
  form.rounding = Rounding::rp;
  EXPECT_EQ(value_sum(form, 1, {0x1p-60}, {1}), above);
  EXPECT_EQ(value_sum(form, 1, {-0x1p-60}, {1}), 1);
  form.rounding = Rounding::rm;
  EXPECT_EQ(value_sum(form, 1, {-0x1p-60}, {1}), below);
  form.rounding = Rounding::rz;
  EXPECT_EQ(value_sum(form, 1, {-0x1p-60}, {1}), below);
  EXPECT_EQ(value_sum(form, -1, {0x1p-60}, {1}), -below);
  // One after the other: what the first adds is lost before the second takes the sum away.
  form.rounding = Rounding::rn;
  EXPECT_EQ(value_sum(form, 1, {0x1p-60, -1}, {1, 1}), 0);
}

TEST(MatrixSums, OfIntegersWrapOrSaturate) {
  MatrixForm form = mma_form(16, 8, 32, s8, MatrixResult::s32);
  EXPECT_EQ(sum(form, 0x7fffffff, {1}, {1}), 0x80000000U);
  EXPECT_EQ(sum(form, 5, {0x80, 0x7f}, {0x80, 0xff}), 5U + 16384 - 127);
  form.saturate = true;
  EXPECT_EQ(sum(form, 0x7fffffff, {1}, {1}), 0x7fffffffU);
  EXPECT_EQ(sum(form, 0x80000000, {1}, {0xff}), 0x80000000U);
  // Only the whole sum is clamped.
  EXPECT_EQ(sum(form, 0x7fffffff, {1, 1}, {1, 0xff}), 0x7fffffffU);
  EXPECT_EQ(sum(form, 0x7ffffffe, {2, 1}, {1, 0xff}), 0x7fffffffU);
  form.a = u8;
  EXPECT_EQ(sum(form, 0, {0xff}, {0xff}), static_cast<std::uint32_t>(-255));
  form.a = form.b = u4;
  form.k = 64;
  EXPECT_EQ(sum(form, 0, std::vector<std::uint64_t>(64, 15), std::vector<std::uint64_t>(64, 15)),
            64U * 225);
}

TEST(MatrixSums, OfBitsCountOnes) {
  MatrixForm form = mma_form(16, 8, 256, b1, MatrixResult::s32);
  EXPECT_EQ(sum(form, 7, {1, 1, 0, 0}, {1, 0, 1, 0}), 9U);
  form.operation = MatrixOperation::and_popc;
  EXPECT_EQ(sum(form, 7, {1, 1, 0, 0}, {1, 0, 1, 0}), 8U);
}

}  // namespace
}  // namespace lockstep::isa::test::sums_test
