/// Where elements stand, and which forms there are.
#include <map>
#include <random>

#include "models/isa/matrix/fragment.hpp"
#include "models/isa/semantics/matrix.hpp"
#include "tests/unit/isa/matrix/matrix_bench.hpp"
#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::fragments_test {
namespace {

using enum MatrixElement;
using enum MatrixArithmetic;

/// How often each element of an operand stands in the lanes' registers.
std::map<std::pair<unsigned, unsigned>, unsigned> places(const MatrixForm& form,
                                                         MatrixOperand operand, unsigned registers,
                                                         unsigned bits) {
  std::map<std::pair<unsigned, unsigned>, unsigned> found;
  for (unsigned reg = 0; reg < registers; ++reg)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned part = 0; part < (bits >= 32 ? 1 : 32 / bits); ++part) {
        const MatrixPlace place = place_of(form, operand, lane, reg, part);
        ++found[{place.row, place.column}];
      }
  return found;
}
void expect_all(const MatrixForm& form, MatrixOperand operand, unsigned registers, unsigned bits,
                unsigned rows, unsigned columns) {
  const auto found = places(form, operand, registers, bits);
  const unsigned each = registers * 32 * std::max(32 / bits, 1U) / (rows * columns);
  ASSERT_EQ(found.size(), rows * columns) << name_of(form);
  for (const auto& [place, count] : found) {
    ASSERT_LT(place.first, rows) << name_of(form);
    ASSERT_LT(place.second, columns) << name_of(form);
    ASSERT_EQ(count, each) << name_of(form) << ": " << place.first << ", " << place.second;
  }
}
TEST(Fragments, HoldEveryElementEquallyOften) {
  for (const MatrixForm& form : all_forms()) {
    const MatrixRegisters count = registers_of(form);
    expect_all(form, MatrixOperand::a, count.a, bits_of(form.a), form.m, form.k);
    expect_all(form, MatrixOperand::b, count.b, bits_of(form.b), form.k, form.n);
    expect_all(form, MatrixOperand::c, count.c, bits_of(form.c), form.m, form.n);
    expect_all(form, MatrixOperand::d, count.d, bits_of(form.d), form.m, form.n);
  }
}

TEST(Fragments, HaveTheRegistersOfTheManual) {
  const auto counts = [](const MatrixForm& form) {
    const MatrixRegisters n = registers_of(form);
    return std::vector<unsigned>{n.a, n.b, n.c, n.d};
  };
  const auto f32 = MatrixResult::f32, half = MatrixResult::f16, s32 = MatrixResult::s32;
  using Counts = std::vector<unsigned>;
  EXPECT_EQ(counts(mma_form(16, 8, 16, f16, f32)), (Counts{4, 2, 4, 4}));
  EXPECT_EQ(counts(mma_form(16, 8, 8, f16, half)), (Counts{2, 1, 2, 2}));
  EXPECT_EQ(counts(mma_form(8, 8, 4, f16, f32)), (Counts{2, 2, 8, 8}));
  EXPECT_EQ(counts(mma_form(8, 8, 4, f16, half)), (Counts{2, 2, 4, 4}));
  EXPECT_EQ(counts(mma_form(16, 8, 8, tf32, f32)), (Counts{4, 2, 4, 4}));
  EXPECT_EQ(counts(mma_form(8, 8, 4, f64, MatrixResult::f64)), (Counts{1, 1, 2, 2}));
  EXPECT_EQ(counts(mma_form(16, 8, 16, f64, MatrixResult::f64)), (Counts{8, 4, 4, 4}));
  EXPECT_EQ(counts(mma_form(8, 8, 16, s8, s32)), (Counts{1, 1, 2, 2}));
  EXPECT_EQ(counts(mma_form(16, 8, 256, b1, s32)), (Counts{4, 2, 4, 4}));
  EXPECT_EQ(counts(wmma_form(16, 16, 16, f16, f32)), (Counts{8, 8, 8, 8}));
  EXPECT_EQ(counts(wmma_form(8, 32, 16, f16, half)), (Counts{8, 8, 4, 4}));
  EXPECT_EQ(counts(wmma_form(16, 16, 16, bf16, f32)), (Counts{4, 4, 8, 8}));
  EXPECT_EQ(counts(wmma_form(32, 8, 16, bf16, f32)), (Counts{8, 2, 8, 8}));
  EXPECT_EQ(counts(wmma_form(16, 16, 8, tf32, f32)), (Counts{4, 4, 8, 8}));
  EXPECT_EQ(counts(wmma_form(32, 8, 16, s8, s32)), (Counts{4, 1, 8, 8}));
  EXPECT_EQ(counts(wmma_form(8, 8, 32, s4, s32)), (Counts{1, 1, 2, 2}));
}

TEST(Fragments, OfTheManualsDrawings) {
  const MatrixForm form = mma_form(16, 8, 16, f16, MatrixResult::f32);
  const auto at = [&](MatrixOperand operand, unsigned lane, unsigned reg, unsigned part) {
    const MatrixPlace place = place_of(form, operand, lane, reg, part);
    return std::pair{place.row, place.column};
  };
  EXPECT_EQ(at(MatrixOperand::a, 5, 0, 0), (std::pair{1U, 2U}));
  EXPECT_EQ(at(MatrixOperand::a, 5, 1, 1), (std::pair{9U, 3U}));
  EXPECT_EQ(at(MatrixOperand::a, 5, 2, 0), (std::pair{1U, 10U}));
  EXPECT_EQ(at(MatrixOperand::b, 5, 1, 1), (std::pair{11U, 1U}));
  EXPECT_EQ(at(MatrixOperand::c, 5, 3, 0), (std::pair{9U, 3U}));
}

TEST(MatrixForms, NeedTheGenerationThatHasThem) {
  const auto since = [](const MatrixForm& form) { return first_with(form); };
  const auto s32 = MatrixResult::s32, f32 = MatrixResult::f32;
  EXPECT_EQ(since(mma_form(8, 8, 4, f16, f32)), volta);
  EXPECT_EQ(since(mma_form(16, 8, 8, f16, f32)), turing);
  EXPECT_EQ(since(mma_form(16, 8, 16, f16, f32)), ampere);
  EXPECT_EQ(since(mma_form(16, 8, 32, e5m2, f32)), ada);
  EXPECT_EQ(since(mma_form(16, 8, 8, f64, MatrixResult::f64)), hopper);
  MatrixForm bits = mma_form(8, 8, 128, b1, s32);
  EXPECT_EQ(since(bits), turing);
  bits.operation = MatrixOperation::and_popc;
  EXPECT_EQ(since(bits), ampere);
  MatrixForm fp8 = mma_form(16, 8, 32, e4m3, f32);
  EXPECT_FALSE(is_supported(fp8)) << "on Ampere";
  fp8.arithmetic = ada;
  EXPECT_TRUE(is_supported(fp8));
}
TEST(MatrixForms, ThatPtxLacksDoNotExist) {
  const auto f32 = MatrixResult::f32;
  EXPECT_FALSE(exists(mma_form(16, 8, 32, f16, f32)));
  EXPECT_FALSE(exists(mma_form(16, 16, 16, f16, f32))) << "only of wmma";
  EXPECT_FALSE(exists(mma_form(16, 8, 16, bf16, MatrixResult::f16)));
  EXPECT_FALSE(exists(mma_form(16, 8, 16, s8, f32)));
  MatrixForm form = mma_form(16, 8, 32, s8, MatrixResult::s32);
  form.b = u8;
  EXPECT_TRUE(exists(form)) << "signs may be mixed";
  form.b = s4;
  EXPECT_FALSE(exists(form));
  form = wmma_form(16, 16, 16, s8, MatrixResult::s32);
  form.b = u8;
  EXPECT_FALSE(exists(form)) << "not in wmma";
  form = mma_form(16, 8, 16, f16, f32);
  form.saturate = true;
  EXPECT_FALSE(exists(form));
  form = mma_form(16, 8, 16, f16, f32);
  form.c = MatrixResult::f16;
  EXPECT_FALSE(exists(form)) << "one type of C and D, but for wmma and m8n8k4";
  form = mma_form(16, 8, 16, f16, f32);
  form.a_column = true;
  EXPECT_FALSE(exists(form));
}

/// 8 x 8 elements in memory, and lanes' registers of them as ldmatrix and stmatrix see them.
TEST(Ldmatrix, GivesEachLaneItsPartOfARow) {
  std::mt19937 random(1);
  std::uint16_t memory[4][8][8];  // of matrices j; the row r of j has its address in lane 8 j + r
  for (auto& matrix : memory)
    for (auto& row : matrix)
      for (std::uint16_t& element : row) element = static_cast<std::uint16_t>(random());
  for (unsigned j = 0; j < 4; ++j) {
    std::uint32_t loaded[32], transposed[32], back[32];
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned address = fragment::address_lane(lane, j);
      const std::uint16_t* row = memory[address / 8][address % 8];
      const unsigned first = fragment::row_byte(lane) / 2;
      loaded[lane] = row[first] | std::uint32_t{row[first + 1]} << 16;
      ASSERT_EQ(loaded[lane], memory[j][lane / 4][2 * (lane % 4)] |
                                  std::uint32_t{memory[j][lane / 4][2 * (lane % 4) + 1]} << 16);
    }
    for (const CpuLevel level : levels()) {
      matrix_transpose(level)(loaded, transposed);
      for (unsigned lane = 0; lane < 32; ++lane)
        ASSERT_EQ(transposed[lane],
                  memory[j][2 * (lane % 4)][lane / 4] |
                      std::uint32_t{memory[j][2 * (lane % 4) + 1][lane / 4]} << 16);
      matrix_transpose(level)(transposed, back);
      for (unsigned lane = 0; lane < 32; ++lane) ASSERT_EQ(back[lane], loaded[lane]);
      matrix_transpose(level)(back, back);
      for (unsigned lane = 0; lane < 32; ++lane) ASSERT_EQ(back[lane], transposed[lane]);
    }
  }
}

}  // namespace
}  // namespace lockstep::isa::test::fragments_test
