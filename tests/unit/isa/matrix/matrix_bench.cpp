#include "tests/unit/isa/matrix/matrix_bench.hpp"

#include <gtest/gtest.h>

#include "models/isa/matrix/fragment.hpp"
#include "models/isa/semantics/matrix.hpp"

namespace lockstep::isa::test {
namespace {

unsigned words_of(unsigned bits) {
  return bits == 64 ? 64 : 32;
}
template <class Row>
std::vector<Row*> pointers(const Rows& rows, unsigned bits) {
  std::vector<Row*> result;
  for (std::size_t i = 0; i < rows.size(); i += words_of(bits))
    result.push_back(const_cast<Row*>(rows.data() + i));
  return result;
}
unsigned parts_of(unsigned bits) {
  return bits >= 32 ? 1 : 32 / bits;
}

template <class E, std::size_t count>
E parse(const std::string& text, const E (&values)[count]) {
  for (const E value : values)
    if (text == name_of(value)) return value;
  ADD_FAILURE() << "unknown name '" << text << "'";
  return values[0];
}
constexpr MatrixElement elements[] = {MatrixElement::f16,  MatrixElement::bf16, MatrixElement::tf32,
                                      MatrixElement::e4m3, MatrixElement::e5m2, MatrixElement::f64,
                                      MatrixElement::s8,   MatrixElement::u8,   MatrixElement::s4,
                                      MatrixElement::u4,   MatrixElement::b1};
constexpr MatrixResult results[] = {MatrixResult::f16, MatrixResult::f32, MatrixResult::f64,
                                    MatrixResult::s32};
constexpr MatrixArithmetic arithmetics[] = {MatrixArithmetic::volta,  MatrixArithmetic::turing,
                                            MatrixArithmetic::ampere, MatrixArithmetic::ada,
                                            MatrixArithmetic::hopper, MatrixArithmetic::blackwell};

}  // namespace

Registers registers_for(const MatrixForm& form) {
  const MatrixRegisters count = registers_of(form);
  const auto rows = [](unsigned registers, unsigned bits) {
    return Rows(std::size_t{registers} * words_of(bits));
  };
  return {rows(count.a, bits_of(form.a)), rows(count.b, bits_of(form.b)),
          rows(count.c, bits_of(form.c))};
}

Rows multiply(const MatrixForm& form, const Registers& registers, CpuLevel level) {
  const unsigned d_bits = bits_of(form.d);
  Rows d(std::size_t{registers_of(form).d} * words_of(d_bits));
  const auto a = pointers<const std::uint32_t>(registers.a, bits_of(form.a));
  const auto b = pointers<const std::uint32_t>(registers.b, bits_of(form.b));
  const auto c = pointers<const std::uint32_t>(registers.c, bits_of(form.c));
  const auto to = pointers<std::uint32_t>(d, d_bits);
  matrix_multiply(level)(form, a.data(), b.data(), c.data(), to.data());
  return d;
}

std::uint64_t element_in(const Rows& rows, unsigned bits, unsigned lane, unsigned reg,
                         unsigned part) {
  if (bits == 64)
    return rows[reg * 64 + 2 * lane] | std::uint64_t{rows[reg * 64 + 2 * lane + 1]} << 32;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  return rows[reg * 32 + lane] >> (part * bits) & mask;
}
void put_element(Rows& rows, unsigned bits, unsigned lane, unsigned reg, unsigned part,
                 std::uint64_t value) {
  if (bits == 64) {
    rows[reg * 64 + 2 * lane] = static_cast<std::uint32_t>(value);
    rows[reg * 64 + 2 * lane + 1] = static_cast<std::uint32_t>(value >> 32);
    return;
  }
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::uint32_t& word = rows[reg * 32 + lane];
  word &= ~static_cast<std::uint32_t>(mask << (part * bits));
  word |= static_cast<std::uint32_t>((value & mask) << (part * bits));
}

Registers pack(const MatrixForm& form, const Matrix& a, const Matrix& b, const Matrix& c) {
  Registers registers = registers_for(form);
  const auto fill = [&](Rows& rows, MatrixOperand operand, unsigned bits, const Matrix& from) {
    for (unsigned reg = 0; reg < rows.size() / words_of(bits); ++reg)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned part = 0; part < parts_of(bits); ++part) {
          const MatrixPlace place = place_of(form, operand, lane, reg, part);
          put_element(rows, bits, lane, reg, part, from(place.row, place.column));
        }
  };
  fill(registers.a, MatrixOperand::a, bits_of(form.a), a);
  fill(registers.b, MatrixOperand::b, bits_of(form.b), b);
  fill(registers.c, MatrixOperand::c, bits_of(form.c), c);
  return registers;
}
Matrix unpack_result(const MatrixForm& form, const Rows& d) {
  Matrix result(form.m, form.n);
  const unsigned bits = bits_of(form.d);
  for (unsigned reg = 0; reg < d.size() / words_of(bits); ++reg)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned part = 0; part < parts_of(bits); ++part) {
        const MatrixPlace place = place_of(form, MatrixOperand::d, lane, reg, part);
        result(place.row, place.column) = element_in(d, bits, lane, reg, part);
      }
  return result;
}
Matrix product(const MatrixForm& form, const Matrix& a, const Matrix& b, const Matrix& c,
               CpuLevel level) {
  return unpack_result(form, multiply(form, pack(form, a, b, c), level));
}

MatrixForm mma_form(unsigned m, unsigned n, unsigned k, MatrixElement element,
                    MatrixResult result) {
  MatrixForm form;
  form.m = static_cast<std::uint8_t>(m);
  form.n = static_cast<std::uint8_t>(n);
  form.k = static_cast<std::uint16_t>(k);
  form.a = form.b = element;
  form.c = form.d = result;
  if (element == MatrixElement::b1) form.operation = MatrixOperation::xor_popc;
  return form;
}
MatrixForm wmma_form(unsigned m, unsigned n, unsigned k, MatrixElement element,
                     MatrixResult result) {
  MatrixForm form = mma_form(m, n, k, element, result);
  form.wmma = true;
  return form;
}

std::vector<MatrixForm> all_forms() {
  std::vector<MatrixForm> forms;
  for (const bool wmma : {false, true})
    for (const MatrixElement element : elements)
      for (const unsigned m : {8U, 16U, 32U})
        for (const unsigned n : {8U, 16U, 32U})
          for (unsigned k = 4; k <= 256; k *= 2)
            for (const MatrixResult result : results)
              for (const MatrixArithmetic arithmetic : arithmetics) {
                MatrixForm form = mma_form(m, n, k, element, result);
                form.wmma = wmma;
                form.arithmetic = arithmetic;
                if (is_supported(form)) forms.push_back(form);
              }
  return forms;
}

MatrixForm parse_form(const std::vector<std::string>& fields) {
  MatrixForm form;
  form.m = static_cast<std::uint8_t>(std::stoi(fields[0]));
  form.n = static_cast<std::uint8_t>(std::stoi(fields[1]));
  form.k = static_cast<std::uint16_t>(std::stoi(fields[2]));
  form.a = parse(fields[3], elements);
  form.b = parse(fields[4], elements);
  form.c = parse(fields[5], results);
  form.d = parse(fields[6], results);
  form.operation = fields[7] == "xor"   ? MatrixOperation::xor_popc
                   : fields[7] == "and" ? MatrixOperation::and_popc
                                        : MatrixOperation::multiply;
  form.arithmetic = parse(fields[8], arithmetics);
  form.rounding = fields[9] == "rz"   ? Rounding::rz
                  : fields[9] == "rm" ? Rounding::rm
                  : fields[9] == "rp" ? Rounding::rp
                                      : Rounding::rn;
  form.wmma = fields[10] == "1";
  form.a_column = fields[11] == "1";
  form.b_row = fields[12] == "1";
  form.saturate = fields[13] == "1";
  return form;
}
Rows parse_rows(const std::string& hexadecimal) {
  Rows rows;
  for (std::size_t i = 0; i + 8 <= hexadecimal.size(); i += 8)
    rows.push_back(static_cast<std::uint32_t>(std::stoul(hexadecimal.substr(i, 8), nullptr, 16)));
  return rows;
}

}  // namespace lockstep::isa::test
