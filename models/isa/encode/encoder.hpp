#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/isa/encode/encode.hpp"

namespace lockstep::isa {

/// Makes the program of one kernel.
class Encoder {
 public:
  Encoder(const SourceModule& module, std::uint32_t kernel, std::span<const LinkInput> functions);
  std::optional<Program> encode();

 private:
  using Kind = ir::Operand::Kind;
  struct Fixup {
    std::uint32_t pc, block;
    bool is_meeting;  ///< of Instruction::reconvergence, else of target
  };

  // encoder.cpp
  bool registers_fit() const;
  void place_shared();
  void place_call_rows();
  /// A thread's local memory: variables, then the stack of recursive calls, then alloca's.
  void place_local();
  void header(const SourceFunction& kernel);
  void function(const LinkedFunction& f);
  void operation(const ir::Operation& op, std::uint32_t meeting);
  void control(const ir::Operation& op, Instruction& instruction, std::uint32_t meeting);
  void barrier(const ir::Operation& op, Instruction& instruction);
  Instruction common(const ir::Operation& op) const;
  void bind(const ir::Operation& op, Instruction& instruction) const;
  std::uint32_t emit(const Instruction& instruction);
  [[noreturn]] void unsupported(const ir::Operation& op, const std::string& why) const;

  // operands.cpp
  Operand register_row(std::uint32_t index) const;
  std::uint8_t predicate_number(const ir::Operand& operand) const;
  Operand pair(std::uint32_t n) const;
  Operand single(std::uint32_t n) const;
  /// A row of constants not used yet.
  Operand next_row(Operand::Base base, std::size_t row) const;
  Operand immediate(std::uint64_t value, unsigned lane_bytes);
  Operand constant(const ConstantRow& row);
  /// The row a source is read from; makes local addresses in recursive functions.
  Operand source(const ir::Operation& op, std::size_t s);
  Operand value_row(const ir::Operation& op, const ir::Operand& operand, Type lane);
  void operands(const ir::Operation& op, Instruction& instruction);
  void destinations(const ir::Operation& op, Instruction& instruction);
  void memory(const ir::Operation& op, Instruction& instruction);
  void address(const ir::Operation& op, Instruction& instruction);
  std::uint64_t shared_offset(const ir::Operand& operand) const;
  std::uint64_t local_offset(const ir::Operand& operand) const;

  // stack.cpp
  bool uses_stack() const;
  void move_stack_end(const ir::Operation& op);

  // calls.cpp
  Instruction made(Opcode opcode, Type type, Operand to, std::initializer_list<Operand> from) const;
  void prologue(const LinkedFunction& f);
  void call(const ir::Operation& op);
  void call_instruction(const ir::Operation& op);
  void leave(const ir::Operation& op);
  void move_arguments(const ir::Operation& op);
  void move_results(const ir::Operation& op);
  std::vector<std::uint32_t> live_across(const ir::Operation& op) const;
  void save(const std::vector<std::uint32_t>& registers, bool restore);
  Instruction local_access(bool is_store, Operand row, Type type, std::uint64_t offset) const;
  std::uint64_t frame_bytes() const;
  /// Rows of the n-th parameter, by the classes of those before it.
  std::vector<Operand> call_rows(const std::vector<Type>& types) const;

  const SourceModule& module_;
  std::uint32_t kernel_;
  Link link_;
  Program program_;
  const LinkedFunction* current_ = nullptr;
  std::uint32_t line_ = 0;
  std::vector<std::uint32_t> block_start_;
  std::vector<Fixup> fixups_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_;  ///< pc, module function
  std::map<std::pair<std::uint64_t, unsigned>, Operand> immediates_;
  std::map<std::tuple<int, unsigned, unsigned, bool, std::uint32_t, std::int64_t>, Operand>
      constants_;
  std::vector<std::uint64_t> shared_offsets_;
  std::uint32_t pairs_ = 0;                          ///< in all, so that singles follow
  std::uint32_t call_pairs_ = 0, call_singles_ = 0;  ///< first of those that carry parameters
  std::uint32_t spare_pair_ = 0, spare_single_ = 0, stack_pointer_ = 0;
  std::uint32_t stack_end_ = ir::no_register;  ///< single that alloca moves, if anyone calls it
  std::uint32_t stack_base_ = 0;               ///< where it begins, in the thread's local memory
};

}  // namespace lockstep::isa
