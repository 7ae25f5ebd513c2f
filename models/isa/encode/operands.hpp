#pragma once

#include "models/isa/encode/program_builder.hpp"

namespace lockstep::isa {

/// Encodes the rows that an instruction reads and writes, and its memory access.
class OperandEncoder {
 public:
  explicit OperandEncoder(ProgramBuilder& program) : program_(program) {}

  /// Returns the row a source is read from; makes local addresses in recursive functions.
  Operand source(const ir::Operation& op, std::size_t s);
  Operand value_row(const ir::Operation& op, const ir::Operand& operand, Type lane);
  void sources(const ir::Operation& op, Instruction& instruction);
  void destinations(const ir::Operation& op, Instruction& instruction) const;
  /// Encodes sources and destinations, in an operand list if there are more than a record holds.
  void rows(const ir::Operation& op, Instruction& instruction);
  /// Puts sources and destinations into an operand list.
  void list(const ir::Operation& op, Instruction& instruction);
  void memory(const ir::Operation& op, Instruction& instruction);

 private:
  using Kind = ir::Operand::Kind;
  Operand local_address(const ir::Operand& operand, unsigned bytes);
  Operand destination_row(const ir::Operand& operand) const;
  void address(const ir::Operation& op, Instruction& instruction);
  unsigned register_bytes(const ir::Operation& op) const;

  ProgramBuilder& program_;
};

}  // namespace lockstep::isa
