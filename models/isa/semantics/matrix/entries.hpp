/// Functions of families/matrix.cc, once per level.
#pragma once

#include <cstdint>

#include "models/isa/matrix/form.hpp"

#define LOCKSTEP_DECLARE_MATRIX(level)                                                 \
  namespace lockstep::isa::level {                                                     \
  void multiply_matrices(const MatrixForm& form, const std::uint32_t* const* a,        \
                         const std::uint32_t* const* b, const std::uint32_t* const* c, \
                         std::uint32_t* const* d);                                     \
  void transpose_matrix(const std::uint32_t* from, std::uint32_t* to);                 \
  }

LOCKSTEP_DECLARE_MATRIX(v2)
LOCKSTEP_DECLARE_MATRIX(v3)
LOCKSTEP_DECLARE_MATRIX(v4)
