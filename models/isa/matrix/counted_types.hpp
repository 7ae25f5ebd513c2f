/// Types by which matrix instructions are counted.
#pragma once

#include <cstddef>

#include "models/isa/matrix/form.hpp"

namespace lockstep::isa {

inline constexpr std::size_t matrix_types = 8;
inline constexpr const char* matrix_type_names[matrix_types] = {"f16", "bf16", "tf32", "f64",
                                                                "fp8", "int8", "int4", "b1"};

/// Returns the place in the counts for a product whose A has such elements.
constexpr std::size_t counted_type(MatrixElement element) {
  switch (element) {
    case MatrixElement::f16:
      return 0;
    case MatrixElement::bf16:
      return 1;
    case MatrixElement::tf32:
      return 2;
    case MatrixElement::f64:
      return 3;
    case MatrixElement::e4m3:
    case MatrixElement::e5m2:
      return 4;
    case MatrixElement::s8:
    case MatrixElement::u8:
      return 5;
    case MatrixElement::s4:
    case MatrixElement::u4:
      return 6;
    default:
      return 7;
  }
}

}  // namespace lockstep::isa
