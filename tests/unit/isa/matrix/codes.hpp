/// Codes of numbers that a format holds exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "models/isa/matrix/form.hpp"

namespace lockstep::isa::test {

struct FloatFormat {
  int exponent_bits, fraction_bits, unused_bits;  ///< unused below the fraction: of tf32
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
inline FloatFormat format_of(MatrixElement element) {
  switch (element) {
    case MatrixElement::f16:
      return {5, 10, 0};
    case MatrixElement::bf16:
      return {8, 7, 0};
    case MatrixElement::tf32:
      return {8, 10, 13};
    case MatrixElement::e4m3:
      return {4, 3, 0};
    case MatrixElement::e5m2:
      return {5, 2, 0};
    default:
      return {11, 52, 0};
  }
}
inline FloatFormat format_of(MatrixResult result) {
  switch (result) {
    case MatrixResult::f16:
      return {5, 10, 0};
    case MatrixResult::f32:
      return {8, 23, 0};
    default:
      return {11, 52, 0};
  }
}
/// Precondition: the value is a number of the format.
inline std::uint64_t code_of(double value, FloatFormat format) {
  const int fraction_bits = format.fraction_bits;
  const std::uint64_t sign = std::uint64_t{std::signbit(value)}
                             << (format.exponent_bits + fraction_bits);
  int exponent = 0;
  const double magnitude = std::fabs(value);
  std::uint64_t number = 0;
  if (magnitude != 0) {
    std::frexp(magnitude, &exponent);
    const int field = std::max(exponent - 1 + format.bias(), 0);
    const int unit = std::max(field, 1) - format.bias() - fraction_bits;
    number = static_cast<std::uint64_t>(std::ldexp(magnitude, -unit));
    if (field > 0) number += (static_cast<std::uint64_t>(field - 1) << fraction_bits);
  }
  return (sign | number) << format.unused_bits;
}
inline double value_of(std::uint64_t code, FloatFormat format) {
  code >>= format.unused_bits;
  const std::uint64_t one = 1;
  const int field =
      static_cast<int>(code >> format.fraction_bits & ((one << format.exponent_bits) - 1));
  const std::uint64_t fraction = code & ((one << format.fraction_bits) - 1);
  const double significand =
      static_cast<double>(fraction + (field > 0 ? one << format.fraction_bits : 0));
  const double value =
      std::ldexp(significand, std::max(field, 1) - format.bias() - format.fraction_bits);
  return (code >> (format.exponent_bits + format.fraction_bits) & 1) != 0 ? -value : value;
}
template <class T>
std::uint64_t code_of(double value, T type) {
  return code_of(value, format_of(type));
}
template <class T>
double value_of(std::uint64_t code, T type) {
  return value_of(code, format_of(type));
}

}  // namespace lockstep::isa::test
