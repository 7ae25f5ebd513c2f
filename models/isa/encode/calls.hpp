#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/isa/encode/operands.hpp"

namespace lockstep::isa {

/// Encodes calls, and the code at the begin and end of functions.
class CallEncoder {
 public:
  CallEncoder(ProgramBuilder& program, OperandEncoder& operands)
      : program_(program), operands_(operands) {}

  /// `stack_base`: begin of alloca's stack in the thread's local memory.
  void prologue(std::uint32_t stack_base);
  void call(const ir::Operation& op);
  void leave(const ir::Operation& op);
  /// Encodes alloca, stacksave and stackrestore, which read or move the end of the stack.
  void move_stack_end(const ir::Operation& op);
  /// Calls so far know their targets, when all functions have been encoded.
  void resolve();

 private:
  using Kind = ir::Operand::Kind;
  void call_instruction(const ir::Operation& op);
  void move_arguments(const ir::Operation& op);
  void move_results(const ir::Operation& op);
  /// Appends a move under the guard of an operation.
  void move(Type type, Operand to, Operand from, const Instruction& guarded);
  void find_live_behind_calls();
  std::vector<std::uint32_t> live_across(const ir::Operation& op);
  void save(const std::vector<std::uint32_t>& registers, bool restore);
  void save_predicate(std::uint32_t index, std::uint64_t offset, bool restore);
  Instruction local_access(bool is_store, Operand row, Type type, std::uint64_t offset) const;
  std::uint64_t frame_bytes() const;

  ProgramBuilder& program_;
  OperandEncoder& operands_;
  const LinkedFunction* analysed_ = nullptr;  ///< function to which `calls_` belongs
  std::unordered_map<const ir::Operation*, std::vector<std::uint32_t>> live_behind_;
  /// Pc and module function of each call.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_;
};

}  // namespace lockstep::isa
