#pragma once

#include <vector>

#include "models/isa/matrix/fragment.hpp"
#include "models/isa/reader/families/matrix_registers.hpp"

namespace lockstep::isa {

/// Products of matrices and moves of their fragments: mma, wmma, ldmatrix, stmatrix, movmatrix.
class MatrixReader : public MatrixRegisterReader {
 public:
  using MatrixRegisterReader::MatrixRegisterReader;
  void mma(PtxInstruction& instruction);
  void wmma(PtxInstruction& instruction);
  void load_matrices(PtxInstruction& instruction);
  void store_matrices(PtxInstruction& instruction);
  void transpose(PtxInstruction& instruction);

 private:
  void wmma_product(PtxInstruction& instruction);
  void product(PtxInstruction& instruction, MatrixForm form);
  void append_registers(PtxInstruction& instruction, const Argument& written, unsigned count,
                        Type type, bool destination, const char* what);
  /// Reads which matrices ldmatrix or stmatrix moves.  Returns their number.
  unsigned matrices(PtxInstruction& instruction);
  /// Computes the address in the shared window, where there is no .shared.
  void shared_address(PtxInstruction& instruction, const Argument& written);
};

}  // namespace lockstep::isa
