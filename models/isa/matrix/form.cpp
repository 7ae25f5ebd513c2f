#include "models/isa/matrix/form.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <iterator>

namespace lockstep::isa {
namespace {

using enum MatrixElement;
using enum MatrixArithmetic;

/// A shape for elements of a type, and the first generation that has it.
struct Shape {
  bool wmma;
  MatrixElement element;
  unsigned m, n, k;
  MatrixArithmetic since;
};
constexpr Shape shapes[] = {
    {false, f16, 8, 8, 4, volta},     {false, f16, 16, 8, 8, turing},
    {false, f16, 16, 8, 16, ampere},  {false, bf16, 16, 8, 8, ampere},
    {false, bf16, 16, 8, 16, ampere}, {false, tf32, 16, 8, 4, ampere},
    {false, tf32, 16, 8, 8, ampere},  {false, f64, 8, 8, 4, ampere},
    {false, f64, 16, 8, 4, hopper},   {false, f64, 16, 8, 8, hopper},
    {false, f64, 16, 8, 16, hopper},  {false, s8, 8, 8, 16, turing},
    {false, s8, 16, 8, 16, ampere},   {false, s8, 16, 8, 32, ampere},
    {false, s4, 8, 8, 32, turing},    {false, s4, 16, 8, 32, ampere},
    {false, s4, 16, 8, 64, ampere},   {false, b1, 8, 8, 128, turing},
    {false, b1, 16, 8, 128, ampere},  {false, b1, 16, 8, 256, ampere},
    {false, e4m3, 16, 8, 16, ada},    {false, e4m3, 16, 8, 32, ada},
    {true, f16, 16, 16, 16, volta},   {true, f16, 32, 8, 16, volta},
    {true, f16, 8, 32, 16, volta},    {true, bf16, 16, 16, 16, ampere},
    {true, bf16, 32, 8, 16, ampere},  {true, bf16, 8, 32, 16, ampere},
    {true, tf32, 16, 16, 8, ampere},  {true, f64, 8, 8, 4, ampere},
    {true, s8, 16, 16, 16, turing},   {true, s8, 32, 8, 16, turing},
    {true, s8, 8, 32, 16, turing},    {true, s4, 8, 8, 32, turing},
    {true, b1, 8, 8, 128, turing},
};

/// Returns the element type of the family that stands in the table: signs and fp8 formats share
/// their shapes.
MatrixElement representative(MatrixElement element) {
  switch (element) {
    case u8:
      return s8;
    case u4:
      return s4;
    case e5m2:
      return e4m3;
    default:
      return element;
  }
}
const Shape* shape_of(const MatrixForm& form) {
  for (const Shape& shape : shapes)
    if (shape.wmma == form.wmma && shape.element == representative(form.a) && shape.m == form.m &&
        shape.n == form.n && shape.k == form.k)
      return &shape;
  return nullptr;
}

/// Returns whether the accumulators' types go with the elements' types. f16 with f32: wmma has
/// every mixture, m8n8k4 all but f32 to f16.
bool accumulates(const MatrixForm& form) {
  const bool equal = form.c == form.d;
  switch (representative(form.a)) {
    case f64:
      return equal && form.c == MatrixResult::f64;
    case s8:
    case s4:
    case b1:
      return equal && form.c == MatrixResult::s32;
    case bf16:
    case tf32:
      return equal && form.c == MatrixResult::f32;
    default:
      break;
  }
  const auto floating = [](MatrixResult r) {
    return r == MatrixResult::f16 || r == MatrixResult::f32;
  };
  if (!floating(form.c) || !floating(form.d)) return false;
  return equal || form.wmma || (is_quad_pairs(form) && form.d == MatrixResult::f32);
}
bool modifiers_fit(const MatrixForm& form) {
  const bool bits = form.a == b1;
  if (bits != (form.operation != MatrixOperation::multiply)) return false;
  if (form.saturate && (!is_integer(form.a) || bits)) return false;
  if ((form.a_column || form.b_row) && !is_quad_pairs(form)) return false;
  const Rounding r = form.rounding;
  if (form.a == f64)
    return r == Rounding::rn || r == Rounding::rz || r == Rounding::rm || r == Rounding::rp;
  return r == Rounding::rn;
}

}  // namespace

MatrixRegisters registers_of(const MatrixForm& form) {
  MatrixRegisters count;
  constexpr unsigned wide = 6, narrow = 5;  // bits of a register, as a power of two
  const unsigned width = form.a == f64 ? wide : narrow;
  const unsigned result_width = form.c == MatrixResult::f64 ? wide : narrow;
  const auto registers = [](unsigned elements, unsigned bits, unsigned of_register) {
    return elements * bits / 32 >> of_register;
  };
  count.a = registers(form.m * form.k, bits_of(form.a), width);
  count.b = registers(form.k * form.n, bits_of(form.b), width);
  count.c = registers(form.m * form.n, bits_of(form.c), result_width);
  count.d = registers(form.m * form.n, bits_of(form.d), result_width);
  if (is_quad_pairs(form)) {  // each quad pair has its own matrices
    count = {2, 2, 4 * count.c, 4 * count.d};
  } else if (form.wmma && form.a == f16) {
    // Eight registers for every shape, as on Volta: some elements are held twice or more.
    count.a = count.b = 8;
  }
  return count;
}

bool exists(const MatrixForm& form) {
  if (shape_of(form) == nullptr || representative(form.a) != representative(form.b)) return false;
  if (form.wmma && form.a != form.b) return false;
  return accumulates(form) && modifiers_fit(form);
}

MatrixArithmetic first_with(const MatrixForm& form) {
  const MatrixArithmetic since = shape_of(form)->since;
  const bool conjunction = form.operation == MatrixOperation::and_popc;
  return conjunction && since < ampere ? ampere : since;
}

bool is_supported(const MatrixForm& form) {
  return exists(form) && form.arithmetic >= first_with(form);
}

namespace {

/// Fields of a packed form, the first in the low bits.
struct Packed {
  std::uint32_t word = 0;
  unsigned at = 0;

  void put(unsigned value, unsigned bits) {
    word |= value << at;
    at += bits;
  }
  unsigned take(unsigned bits) {
    const unsigned value = word >> at & ((1U << bits) - 1);
    at += bits;
    return value;
  }
};
unsigned power_of(unsigned value) {
  return static_cast<unsigned>(std::countr_zero(value));
}

}  // namespace

std::uint32_t pack(const MatrixForm& form) {
  Packed packed;
  packed.put(power_of(form.m), 3);
  packed.put(power_of(form.n), 3);
  packed.put(power_of(form.k), 4);
  packed.put(static_cast<unsigned>(form.a), 4);
  packed.put(static_cast<unsigned>(form.b), 4);
  packed.put(static_cast<unsigned>(form.c), 2);
  packed.put(static_cast<unsigned>(form.d), 2);
  packed.put(static_cast<unsigned>(form.arithmetic), 3);
  // Packs the qualifier of the form: f64 has roundings, bits have operations, f16 has layouts,
  // integers have saturation.
  packed.put(form.a == f64  ? static_cast<unsigned>(form.rounding)
             : form.a == b1 ? static_cast<unsigned>(form.operation)
                            : 2U * form.a_column + form.b_row,
             3);
  packed.put(form.saturate, 1);
  packed.put(form.wmma, 1);
  return packed.word;
}
MatrixForm unpack_form(std::uint32_t word) {
  Packed packed{word};
  MatrixForm form;
  form.m = static_cast<std::uint8_t>(1U << packed.take(3));
  form.n = static_cast<std::uint8_t>(1U << packed.take(3));
  form.k = static_cast<std::uint16_t>(1U << packed.take(4));
  form.a = static_cast<MatrixElement>(packed.take(4));
  form.b = static_cast<MatrixElement>(packed.take(4));
  form.c = static_cast<MatrixResult>(packed.take(2));
  form.d = static_cast<MatrixResult>(packed.take(2));
  form.arithmetic = static_cast<MatrixArithmetic>(packed.take(3));
  const unsigned qualifier = packed.take(3);
  if (form.a == f64) {
    form.rounding = static_cast<Rounding>(qualifier);
  } else if (form.a == b1) {
    form.operation = static_cast<MatrixOperation>(qualifier);
  } else {
    form.a_column = (qualifier & 2) != 0;
    form.b_row = (qualifier & 1) != 0;
  }
  form.saturate = packed.take(1) != 0;
  form.wmma = packed.take(1) != 0;
  return form;
}

std::optional<MatrixArithmetic> arithmetic_of(const std::string& compute_capability) {
  const auto dot = compute_capability.find('.');
  const int major = std::atoi(compute_capability.c_str());
  const int minor = dot == std::string::npos ? 0 : std::atoi(compute_capability.c_str() + dot + 1);
  if (major < 7) return std::nullopt;
  if (major == 7) return minor < 5 ? volta : turing;
  if (major == 8) return minor < 9 ? ampere : ada;
  return major == 9 ? hopper : blackwell;
}
const char* example_of(MatrixArithmetic arithmetic) {
  constexpr const char* examples[] = {"V100 (7.0)", "T4 (7.5)",   "A100 (8.0)",
                                      "L40 (8.9)",  "H100 (9.0)", "B200 (10.0)"};
  return examples[static_cast<unsigned>(arithmetic)];
}

const char* name_of(MatrixElement element) {
  constexpr const char* names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "f64",
                                   "s8",  "u8",   "s4",   "u4",   "b1"};
  static_assert(std::size(names) == static_cast<unsigned>(b1) + 1);
  return names[static_cast<unsigned>(element)];
}
const char* name_of(MatrixResult result) {
  constexpr const char* names[] = {"f16", "f32", "f64", "s32"};
  return names[static_cast<unsigned>(result)];
}
const char* name_of(MatrixArithmetic arithmetic) {
  constexpr const char* names[] = {"volta", "turing", "ampere", "ada", "hopper", "blackwell"};
  static_assert(std::size(names) == static_cast<unsigned>(blackwell) + 1);
  return names[static_cast<unsigned>(arithmetic)];
}
std::string name_of(const MatrixForm& form) {
  return fmt::format("m{}n{}k{}.{}.{}.{}.{}", form.m, form.n, form.k, name_of(form.d),
                     name_of(form.a), name_of(form.b), name_of(form.c));
}

}  // namespace lockstep::isa
