#pragma once

#include <cstddef>
#include <string>

#include "models/isa/ir.hpp"
#include "models/isa/reader/names/modifiers.hpp"
#include "models/isa/reader/syntax/syntax.hpp"

namespace lockstep::isa {

/// An instruction being read: its text, and the resulting operation.
struct PtxInstruction {
  PtxInstruction(const std::string& file, const syntax::Statement& statement);

  const std::string& text() const { return statement.text; }
  syntax::Position at() const { return statement.at; }
  std::size_t arguments() const { return statement.operands.size(); }
  const syntax::Operand& argument(std::size_t index) const { return statement.operands[index]; }
  void expect_arguments(std::size_t least, std::size_t most) const;
  /// Fails on modifiers that have not been taken.
  void reject_rest() const;
  /// Fails on modifiers for which the reason is known.
  void refuse_known() const;
  /// Fails because no type was found among the modifiers.
  [[noreturn]] void lacks_type() const;
  /// Returns an operation at the same place, without the guard.
  ir::Operation plain(Opcode opcode, Type type) const;

  /// Throws a UserError.  Where no other advice is given, the advice is the form of the
  /// instruction.
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(syntax::Position place, const std::string& what) const;
  [[noreturn]] void fail(syntax::Position place, const std::string& what,
                         const std::string& advice) const;
  [[noreturn]] void unsupported() const;

  const std::string& file;
  const syntax::Statement& statement;
  Modifiers modifiers;
  ir::Operation operation;
};

}  // namespace lockstep::isa
