#pragma once

#include <optional>
#include <vector>

#include "models/isa/encode/calls.hpp"
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
    bool is_meeting;  ///< true: the label is for Instruction::reconvergence; false: for target
  };

  bool registers_fit();
  /// Places a thread's local memory: variables, then the stack of recursive calls, then that of
  /// alloca.
  void place_local();
  void function(const LinkedFunction& f);
  void operation(const ir::Operation& op, std::uint32_t meeting);
  void control(const ir::Operation& op, Instruction& instruction, std::uint32_t meeting);
  void barrier(const ir::Operation& op, Instruction& instruction);
  void resolve_branches(const ir::Function& code, std::size_t first_instruction);

  ProgramBuilder program_;
  OperandEncoder operands_{program_};
  CallEncoder calls_{program_, operands_};
  std::uint32_t stack_base_ = 0;  ///< start of alloca's stack in the thread's local memory
  std::vector<std::uint32_t> block_start_;
  std::vector<Fixup> fixups_;
};

}  // namespace lockstep::isa
