#include "models/isa/semantics/matrix.hpp"

#include "models/isa/semantics/matrix/entries.hpp"

namespace lockstep::isa {

MatrixMultiply matrix_multiply([[maybe_unused]] CpuLevel level) {
#ifndef LOCKSTEP_ONE_LEVEL
  if (level == CpuLevel::v4) return &v4::multiply_matrices;
  if (level == CpuLevel::v3) return &v3::multiply_matrices;
#endif
  return &v2::multiply_matrices;
}

MatrixTranspose matrix_transpose([[maybe_unused]] CpuLevel level) {
#ifndef LOCKSTEP_ONE_LEVEL
  if (level == CpuLevel::v4) return &v4::transpose_matrix;
  if (level == CpuLevel::v3) return &v3::transpose_matrix;
#endif
  return &v2::transpose_matrix;
}

}  // namespace lockstep::isa
