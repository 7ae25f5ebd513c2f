/// What holds of products of matrices whatever their elements are.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "models/isa/matrix/plan.hpp"
#include "models/isa/semantics/matrix.hpp"
#include "tests/unit/isa/matrix/codes.hpp"
#include "tests/unit/isa/matrix/matrix_bench.hpp"
#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::matrix_properties_test {
namespace {

using Random = std::mt19937;

bool is_float(const MatrixForm& form) {
  return !is_integer(form.a);
}
std::string describe(const MatrixForm& form) {
  return name_of(form) + " " + name_of(form.arithmetic) + (form.wmma ? " wmma" : "");
}
struct Operands {
  Matrix a, b, c;
};
/// Numbers of the format with exponents that are not far apart.
template <class T>
std::uint64_t random_number(Random& random, T type, int spread) {
  const FloatFormat format = format_of(type);
  const int exponent = static_cast<int>(random() % (2 * spread + 1)) - spread;
  const double fraction =
      1 + std::ldexp(static_cast<double>(random() % (1U << format.fraction_bits % 24)),
                     -static_cast<int>(format.fraction_bits % 24));
  const double value = random() % 8 == 0 ? 0 : std::ldexp(fraction, exponent);
  return code_of(random() % 2 == 0 ? -value : value, format);
}
Operands random_operands(Random& random, const MatrixForm& form) {
  Operands x{Matrix(form.m, form.k), Matrix(form.k, form.n), Matrix(form.m, form.n)};
  for (std::uint64_t& code : x.a.codes) code = random_number(random, form.a, 4);
  for (std::uint64_t& code : x.b.codes) code = random_number(random, form.b, 4);
  for (std::uint64_t& code : x.c.codes) code = random_number(random, form.c, 6);
  return x;
}
Matrix product(const MatrixForm& form, const Operands& x) {
  return test::product(form, x.a, x.b, x.c, cpu_level());
}

TEST(MatrixProperties, OrderWithinAGroupDoesNotMatter) {
  Random random(1);
  for (const MatrixForm& form : all_forms()) {
    const MatrixPlan plan = plan_of(form);
    if (plan.kind != MatrixPlan::Kind::fused) continue;
    const Operands x = random_operands(random, form);
    std::vector<unsigned> order(form.k);
    std::iota(order.begin(), order.end(), 0);
    for (unsigned first = 0; first < form.k; first += plan.group)
      std::shuffle(order.begin() + first, order.begin() + first + plan.group, random);
    Operands shuffled = x;
    for (unsigned k = 0; k < form.k; ++k) {
      for (unsigned row = 0; row < form.m; ++row) shuffled.a(row, k) = x.a(row, order[k]);
      for (unsigned column = 0; column < form.n; ++column)
        shuffled.b(k, column) = x.b(order[k], column);
    }
    ASSERT_EQ(product(form, shuffled), product(form, x)) << describe(form);
  }
}

TEST(MatrixProperties, OppositesGiveTheOpposite) {
  Random random(2);
  for (const MatrixForm& form : all_forms()) {
    if (!is_float(form)) continue;
    const Operands x = random_operands(random, form);
    const std::uint64_t a_sign = code_of(-0.0, form.a), c_sign = code_of(-0.0, form.c);
    Operands opposite = x;
    for (std::uint64_t& code : opposite.a.codes) code ^= a_sign;
    for (std::uint64_t& code : opposite.c.codes) code ^= c_sign;
    const Matrix d = product(form, x), negated = product(form, opposite);
    for (std::size_t i = 0; i < d.codes.size(); ++i)
      ASSERT_EQ(value_of(negated.codes[i], form.d), -value_of(d.codes[i], form.d))
          << describe(form);
  }
}

TEST(MatrixProperties, PowersOfTwoScaleTheResult) {
  Random random(3);
  for (const MatrixForm& form : all_forms()) {
    // Away from the limits of the formats: f16 results lose bits of what is small.
    if (!is_float(form) || form.d == MatrixResult::f16 || is_fp8(form.a)) continue;
    const Operands x = random_operands(random, form);
    Operands scaled = x;
    for (std::uint64_t& code : scaled.a.codes) code = code_of(value_of(code, form.a) * 16, form.a);
    for (std::uint64_t& code : scaled.c.codes) code = code_of(value_of(code, form.c) * 16, form.c);
    const Matrix d = product(form, x), large = product(form, scaled);
    for (std::size_t i = 0; i < d.codes.size(); ++i)
      ASSERT_EQ(value_of(large.codes[i], form.d), 16 * value_of(d.codes[i], form.d))
          << describe(form);
  }
}

TEST(MatrixProperties, SmallIntegersAreExactInEveryForm) {
  Random random(4);
  for (const MatrixForm& form : all_forms()) {
    if (form.a == MatrixElement::b1) continue;
    const bool with_sign = form.a != MatrixElement::u8 && form.a != MatrixElement::u4;
    std::vector<int> a(form.m * form.k), b(form.k * form.n), c(form.m * form.n);
    const auto small = [&](int limit) {
      return with_sign ? static_cast<int>(random() % (2 * limit + 1)) - limit
                       : static_cast<int>(random() % (limit + 1));
    };
    for (int& x : a) x = small(4);
    for (int& x : b) x = small(4);
    for (int& x : c) x = small(9);
    const auto code = [&](int value, auto type) {
      return is_float(form) ? code_of(value, type) : static_cast<std::uint32_t>(value);
    };
    Operands x{Matrix(form.m, form.k), Matrix(form.k, form.n), Matrix(form.m, form.n)};
    for (std::size_t i = 0; i < a.size(); ++i) x.a.codes[i] = code(a[i], form.a);
    for (std::size_t i = 0; i < b.size(); ++i) x.b.codes[i] = code(b[i], form.b);
    for (std::size_t i = 0; i < c.size(); ++i) x.c.codes[i] = code(c[i], form.c);
    for (const CpuLevel level : levels()) {
      const Matrix d = test::product(form, x.a, x.b, x.c, level);
      for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
          int sum = c[row * form.n + column];
          for (unsigned k = 0; k < form.k; ++k) sum += a[row * form.k + k] * b[k * form.n + column];
          const std::uint64_t expected = sum == 0 ? 0 : code(sum, form.d);
          ASSERT_EQ(d(row, column), expected) << describe(form) << " " << row << ", " << column;
        }
    }
  }
}

/// A product of other shape computes the block of D at (row, column) from terms k ... .
Matrix block_product(const MatrixForm& form, const Operands& x, const Matrix& c, unsigned row,
                     unsigned column, unsigned k) {
  Operands block{Matrix(form.m, form.k), Matrix(form.k, form.n), Matrix(form.m, form.n)};
  for (unsigned i = 0; i < form.m; ++i)
    for (unsigned j = 0; j < form.k; ++j) block.a(i, j) = x.a(row + i, k + j);
  for (unsigned i = 0; i < form.k; ++i)
    for (unsigned j = 0; j < form.n; ++j) block.b(i, j) = x.b(k + i, column + j);
  for (unsigned i = 0; i < form.m; ++i)
    for (unsigned j = 0; j < form.n; ++j) block.c(i, j) = c(row + i, column + j);
  return product(form, block);
}
/// The mma that computes a wmma's blocks in this generation, or nothing for m8n32, which is none.
MatrixForm block_form(const MatrixForm& wmma) {
  MatrixForm form = wmma;
  form.wmma = false;
  if (wmma.m != 8 || wmma.n != 8) {
    form.m = 16;
    form.n = 8;
  }
  if (wmma.a == MatrixElement::f16 && wmma.arithmetic == MatrixArithmetic::volta) {
    form.m = form.n = 8;
    form.k = 4;
  } else if (wmma.a == MatrixElement::f16 && wmma.arithmetic == MatrixArithmetic::turing) {
    form.k = 8;
  } else if (wmma.a == MatrixElement::tf32) {
    form.k = 4;
  } else if (!is_supported(form)) {  // integers on Turing
    form.m = 8;
  }
  return form;
}
TEST(MatrixProperties, WmmaIsMmaOnItsFragments) {
  Random random(5);
  for (const MatrixForm& wmma : all_forms()) {
    if (!wmma.wmma || wmma.n == 32) continue;
    const MatrixForm mma = block_form(wmma);
    ASSERT_TRUE(is_supported(mma)) << describe(wmma);
    Operands x = random_operands(random, wmma);
    if (!is_float(wmma))
      for (Matrix* matrix : {&x.a, &x.b, &x.c})
        for (std::uint64_t& code : matrix->codes) code = random();
    Matrix expected = x.c;
    for (unsigned row = 0; row < wmma.m; row += mma.m)
      for (unsigned column = 0; column < wmma.n; column += mma.n)
        for (unsigned k = 0; k < wmma.k; k += mma.k) {
          const Matrix d = block_product(mma, x, expected, row, column, k);
          for (unsigned i = 0; i < mma.m; ++i)
            for (unsigned j = 0; j < mma.n; ++j) expected(row + i, column + j) = d(i, j);
        }
    ASSERT_EQ(product(wmma, x), expected) << describe(wmma);
  }
}
TEST(MatrixProperties, AWideWmmaIsTheTransposedTallOne) {
  Random random(6);
  for (const MatrixForm& wide : all_forms()) {
    if (!wide.wmma || wide.n != 32) continue;
    MatrixForm tall = wide;
    tall.m = 32;
    tall.n = 8;
    const Operands x = random_operands(random, wide);
    const auto transposed = [](const Matrix& from) {
      const unsigned rows = static_cast<unsigned>(from.codes.size()) / from.columns;
      Matrix to(from.columns, rows);
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned column = 0; column < from.columns; ++column)
          to(column, row) = from(row, column);
      return to;
    };
    const Operands turned{transposed(x.b), transposed(x.a), transposed(x.c)};
    ASSERT_EQ(product(wide, x), transposed(product(tall, turned))) << describe(wide);
  }
}

TEST(MatrixProperties, AnyBitsGiveTheSameAtEveryLevel) {
  Random random(7);
  for (const MatrixForm& form : all_forms())
    for (unsigned round = 0; round < 3; ++round) {
      Registers registers = registers_for(form);
      for (Rows* rows : {&registers.a, &registers.b, &registers.c})
        for (std::uint32_t& word : *rows) word = static_cast<std::uint32_t>(random());
      const Rows expected = multiply(form, registers, CpuLevel::v2);
      for (const CpuLevel level : levels())
        ASSERT_EQ(multiply(form, registers, level), expected)
            << describe(form) << " level " << static_cast<int>(level);
    }
}

TEST(MatrixProperties, ResultsMayReplaceSources) {
  Random random(8);
  for (const MatrixForm& form : all_forms()) {
    const unsigned words = form.a == MatrixElement::f64 ? 64 : 32;
    Registers registers = registers_for(form);
    for (Rows* rows : {&registers.a, &registers.b, &registers.c})
      for (std::uint32_t& word : *rows) word = static_cast<std::uint32_t>(random());
    const Rows expected = multiply(form, registers, cpu_level());
    // D takes the rows of C, then those of A and B, from the last to the first.
    std::vector<std::uint32_t*> a, b, c, d;
    for (std::size_t i = 0; i < registers.a.size(); i += words) a.push_back(&registers.a[i]);
    for (std::size_t i = 0; i < registers.b.size(); i += words) b.push_back(&registers.b[i]);
    for (std::size_t i = 0; i < registers.c.size(); i += words) c.push_back(&registers.c[i]);
    for (const auto* rows : {&a, &b, &c}) d.insert(d.begin(), rows->rbegin(), rows->rend());
    const auto sources = [](const std::vector<std::uint32_t*>& rows) {
      return std::vector<const std::uint32_t*>(rows.begin(), rows.end());
    };
    matrix_multiply(cpu_level())(form, sources(a).data(), sources(b).data(), sources(c).data(),
                                 d.data());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(d[i / words][i % words], expected[i]) << describe(form);
  }
}

}  // namespace
}  // namespace lockstep::isa::test::matrix_properties_test
