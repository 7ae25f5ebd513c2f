#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/isa/encode/row_layout.hpp"
#include "models/isa/program.hpp"
#include "models/isa/source_module.hpp"

namespace lockstep::isa {

/// A program under construction: its instructions and constants so far, and the places of the
/// registers and variables of the function being encoded.
class ProgramBuilder {
 public:
  ProgramBuilder(const SourceModule& module, Link link);

  Program& program() { return program_; }
  const SourceModule& module() const { return module_; }
  const Link& link() const { return link_; }
  const RowLayout& rows() const { return rows_; }
  const LinkedFunction& current() const { return *current_; }
  const ir::Function& code() const { return *current_->input.function; }
  std::uint32_t next_pc() const { return static_cast<std::uint32_t>(program_.instructions.size()); }

  void begin(const LinkedFunction& function) { current_ = &function; }
  /// Sets the PTX line of the instructions that are emitted next.
  void set_line(std::uint32_t line) { line_ = line; }
  void emit(const Instruction& instruction);

  /// Returns an instruction with the fields that follow from the opcode and the guard.
  Instruction common(const ir::Operation& op) const;
  void bind(const ir::Operation& op, Instruction& instruction) const;
  /// Returns an instruction between rows that stands for no operation.
  Instruction made(Opcode opcode, Type type, Operand to, std::initializer_list<Operand> from) const;

  Operand register_row(std::uint32_t index) const;
  std::uint8_t predicate_number(const ir::Operand& operand) const;
  Operand immediate(std::uint64_t value, unsigned lane_bytes);
  Operand constant(const ConstantRow& wanted);
  std::uint64_t shared_offset(const ir::Operand& operand) const;
  std::uint64_t local_offset(const ir::Operand& operand) const;

  [[noreturn]] void unsupported(const ir::Operation& op, const std::string& why) const;

 private:
  Instruction common_of(const ir::Operation& op) const;
  /// Refuses operations of bulk copies on a machine without an engine for them.
  void require_bulk_copies(const ir::Operation& op) const;
  void require_clusters(const ir::Operation& op) const;
  /// Refuses operations of warp groups on a machine without them.
  void require_warpgroups(const ir::Operation& op) const;
  Instruction matrix_product(ir::Operation op) const;
  Instruction warpgroup_product(const ir::Operation& op) const;
  std::uint32_t matrix_form(const ir::Operation& op) const;
  const std::string& file() const { return module_.functions[current_->index].file; }
  void place_shared();
  /// Takes a row of constants not used yet.
  Operand next_row(Operand::Base base, std::size_t row) const;

  const SourceModule& module_;
  const Link link_;
  const RowLayout rows_;
  Program program_;
  const LinkedFunction* current_ = nullptr;
  std::uint32_t line_ = 0;
  std::map<std::pair<std::uint64_t, unsigned>, Operand> immediates_;
  std::map<std::tuple<int, unsigned, unsigned, bool, std::uint32_t, std::int64_t>, Operand>
      constants_;
  std::vector<std::uint64_t> shared_offsets_;
};

}  // namespace lockstep::isa
