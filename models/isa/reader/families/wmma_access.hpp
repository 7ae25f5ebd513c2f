/// wmma.load and wmma.store: ordinary accesses of each lane to the elements of its fragment.
///
/// The place of a lane's first element is linear in g = lane / 4 and t = lane % 4; the other
/// elements are at constant distances from it, in rows of the matrix and within rows.  Elements
/// contiguous in memory and in registers share one access.
#pragma once

#include <vector>

#include "models/isa/matrix/fragment.hpp"
#include "models/isa/reader/families/matrix_registers.hpp"

namespace lockstep::isa {

class WmmaAccess : public MatrixRegisterReader {
 public:
  using MatrixRegisterReader::MatrixRegisterReader;
  void load(PtxInstruction& instruction);
  void store(PtxInstruction& instruction);

 private:
  /// A fragment and the matrix that it is a part of.
  struct Fragment {
    MatrixForm form;
    MatrixOperand operand = MatrixOperand::a;
    unsigned bits = 16, registers = 0;
    bool by_columns = false;  ///< layout of the matrix
    Space space = Space::generic;

    unsigned parts() const { return bits >= 32 ? 1 : 32 / bits; }
    /// Returns the line and the place in the line, as memory has them.
    MatrixPlace at(unsigned lane, unsigned reg, unsigned part) const;
  };
  /// Addresses of the lanes' elements, by line, made on demand.
  struct Base {
    ir::Operand first;       ///< address of the lane's first element
    ir::Operand line_bytes;  ///< bytes from one line to the next, 32 bits
    std::vector<std::pair<unsigned, ir::Operand>> lines;
  };

  Fragment read_fragment(PtxInstruction& instruction, MatrixOperand operand);
  Base base_of(PtxInstruction& instruction, const Fragment& fragment, const Argument& address,
               std::size_t stride_argument);
  ir::Operand stride_of(PtxInstruction& instruction, const Fragment& fragment,
                        std::size_t stride_argument);
  ir::Operand line(PtxInstruction& instruction, Base& base, unsigned number);
  ir::Operation access(PtxInstruction& instruction, const Fragment& fragment, Base& base,
                       MatrixPlace place, Type type, unsigned elements);
  /// Returns the number of registers from `reg` on that one access moves; 0: each element has an
  /// access of its own.
  unsigned together(const Fragment& fragment, unsigned reg) const;
  std::vector<ir::Operand> fragment_registers(PtxInstruction& instruction, const Argument& written,
                                              const Fragment& fragment, bool destination);
  void load_elements(PtxInstruction& instruction, const Fragment& fragment, Base& base,
                     unsigned reg, const ir::Operand& to);
  void store_elements(PtxInstruction& instruction, const Fragment& fragment, Base& base,
                      unsigned reg, const ir::Operand& from);
  ir::Operand computed(PtxInstruction& instruction, Opcode opcode, Type type,
                       std::vector<ir::Operand> sources, ir::MulPart part = ir::MulPart::none);
};

}  // namespace lockstep::isa
