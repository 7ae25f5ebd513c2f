#include "models/isa/encode/encoder.hpp"

#include <algorithm>

#include "models/isa/control_flow/control_flow.hpp"
#include "models/isa/encode/waiting_loops.hpp"

namespace lockstep::isa {

std::vector<std::uint32_t> functions_in_variables(const SourceModule& module) {
  std::vector<std::uint32_t> result;
  const auto add = [&](const std::vector<GlobalVariable::Relocation>& relocations) {
    for (const GlobalVariable::Relocation& r : relocations)
      if (r.target == GlobalVariable::Relocation::Target::function) result.push_back(r.index);
  };
  for (const GlobalVariable& global : module.globals) add(global.relocations);
  add(module.constant_relocations);
  return result;
}

Program program_header(const SourceFunction& kernel) {
  Program program;
  program.name = kernel.code.name;
  program.parameters = kernel.parameters;
  program.parameter_bytes = kernel.parameter_bytes;
  program.required_block = kernel.required_block;
  program.required_cluster = kernel.required_cluster;
  program.maximum_cluster = kernel.maximum_cluster;
  program.explicit_cluster = kernel.explicit_cluster;
  program.maximum_threads = kernel.maximum_threads;
  return program;
}

Encoder::Encoder(const SourceModule& module, std::uint32_t kernel,
                 std::span<const LinkInput> functions)
    : program_(module, link(kernel, functions, functions_in_variables(module))) {}

std::optional<Program> encode(const SourceModule& module, std::uint32_t kernel,
                              std::span<const LinkInput> functions) {
  return Encoder(module, kernel, functions).encode();
}

std::optional<Program> Encoder::encode() {
  place_local();
  if (!registers_fit()) return std::nullopt;
  Program& program = program_.program();
  program.function_entries.assign(program_.module().functions.size(), no_reconvergence);
  for (const LinkedFunction& f : program_.link().functions) function(f);
  calls_.resolve();
  // A list as long as the module for each kernel would outweigh everything else in a module with
  // thousands of functions.
  if (!program_.link().indirect) {
    std::erase(program.function_entries, no_reconvergence);
    program.function_entries.shrink_to_fit();
  }
  find_needs(program);
  find_waiting_loops(program);
  return std::move(program);
}

bool Encoder::registers_fit() {
  return program_.program().rows <= Operand::largest_row &&
         program_.program().predicates <= no_predicate;
}

void Encoder::place_local() {
  Program& program = program_.program();
  const Link& linked = program_.link();
  program.recursive = linked.recursive;
  program.local_bytes = static_cast<std::uint32_t>(linked.local_bytes) +
                        (linked.recursive ? recursion_stack_bytes : 0);
  if (!program_.rows().has_stack_end()) return;
  stack_base_ = program.local_bytes;
  program.local_bytes += stack_bytes;
}

void Encoder::function(const LinkedFunction& f) {
  program_.begin(f);
  const ir::Function& code = program_.code();
  const std::uint32_t first_instruction = program_.next_pc();
  program_.program().function_entries[f.index] = first_instruction;
  const std::vector<std::uint32_t> meetings = immediate_post_dominators(code);
  block_start_.clear();
  fixups_.clear();
  program_.set_line(code.blocks[0].operations.empty() ? 0 : code.blocks[0].operations[0].line);
  calls_.prologue(stack_base_);
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
    block_start_.push_back(program_.next_pc());
    for (const ir::Operation& op : code.blocks[b].operations) operation(op, meetings[b]);
  }
  resolve_branches(code, first_instruction);
}

void Encoder::resolve_branches(const ir::Function& code, std::size_t first_instruction) {
  Program& program = program_.program();
  for (const Fixup& fixup : fixups_)
    (fixup.is_meeting ? program.instructions[fixup.pc].reconvergence
                      : program.instructions[fixup.pc].target) = block_start_[fixup.block];
  const auto table_base = static_cast<std::uint32_t>(program.branch_tables.size());
  for (const std::vector<std::uint32_t>& table : code.branch_tables) {
    std::vector<std::uint32_t> targets;
    for (const std::uint32_t block : table) targets.push_back(block_start_[block]);
    program.branch_tables.push_back(std::move(targets));
  }
  for (std::size_t pc = first_instruction; pc < program.instructions.size(); ++pc)
    if (program.instructions[pc].category == Category::branch_indexed)
      program.instructions[pc].target += table_base;
}

void Encoder::operation(const ir::Operation& op, std::uint32_t meeting) {
  if (op.line != 0) program_.set_line(op.line);
  if (op.opcode == Opcode::stack_save || op.opcode == Opcode::stack_restore) {
    calls_.move_stack_end(op);
    return;
  }
  Instruction instruction = program_.common(op);
  switch (instruction.category) {
    case Category::arithmetic:
    case Category::shuffle_vote:
      operands_.rows(op, instruction);
      program_.bind(op, instruction);
      program_.emit(instruction);
      break;
    case Category::load:
    case Category::store:
    case Category::atomic:
    case Category::prefetch:
    case Category::copy:
      operands_.memory(op, instruction);
      program_.emit(instruction);
      break;
    case Category::bulk_copy:
    case Category::phase_wait:
      operands_.memory(op, instruction);
      instruction.detail = op.mode;
      instruction.target = op.immediate;
      program_.emit(instruction);
      break;
    case Category::warpgroup_product:
      operands_.list(op, instruction);
      program_.bind(op, instruction);
      program_.emit(instruction);
      break;
    case Category::copy_group:
    case Category::bulk_group:
    case Category::warpgroup_step:
    case Category::register_limit:
      instruction.detail = op.mode;
      instruction.target = op.immediate;
      program_.emit(instruction);
      break;
    case Category::async_store:
      operands_.memory(op, instruction);
      program_.emit(instruction);
      break;
    case Category::cluster_barrier:
      instruction.detail = op.mode;
      [[fallthrough]];
    case Category::fence:
      instruction.memory.ordering = op.ordering;
      instruction.memory.scope = op.scope;
      program_.emit(instruction);
      break;
    case Category::barrier:
      barrier(op, instruction);
      program_.emit(instruction);
      break;
    case Category::grid_dependency:
      instruction.detail = op.mode;
      program_.emit(instruction);
      break;
    case Category::sleep:
      operands_.sources(op, instruction);
      program_.emit(instruction);
      break;
    case Category::print:
      operands_.sources(op, instruction);
      operands_.destinations(op, instruction);
      instruction.detail = op.mode;
      program_.emit(instruction);
      break;
    case Category::call:
    case Category::call_indirect:
      calls_.call(op);
      break;
    default:
      control(op, instruction, meeting);
  }
}

void Encoder::control(const ir::Operation& op, Instruction& instruction, std::uint32_t meeting) {
  switch (instruction.category) {
    case Category::branch:
      fixups_.push_back({program_.next_pc(), op.sources[0].index, false});
      break;
    case Category::branch_indexed:
      instruction.source[0] = operands_.source(op, 0);
      instruction.target = op.immediate;
      break;
    case Category::warp_barrier:
      instruction.source[0] = operands_.source(op, 0);
      break;
    case Category::trap:
      instruction.detail = op.mode;
      for (std::size_t s = 0; s < op.sources.size(); ++s)
        instruction.source[s] = operands_.source(op, s);
      break;
    case Category::ret:
      if (!program_.code().is_entry) {
        calls_.leave(op);
        return;
      }
      instruction.category = Category::exit;
      break;
    default:
      break;
  }
  instruction.reconvergence = no_reconvergence;
  const bool branches =
      instruction.category == Category::branch || instruction.category == Category::branch_indexed;
  if (branches && meeting != no_block) fixups_.push_back({program_.next_pc(), meeting, true});
  program_.emit(instruction);
}

void Encoder::barrier(const ir::Operation& op, Instruction& instruction) {
  const auto mode = static_cast<ir::BarrierMode>(op.mode);
  if (mode == ir::BarrierMode::arrive) instruction.flags |= flag_barrier_arrive;
  std::size_t given = op.sources.size();
  if (mode != ir::BarrierMode::sync && mode != ir::BarrierMode::arrive) {
    instruction.flags |= flag_barrier_reduce;
    const unsigned which =
        static_cast<unsigned>(mode) - static_cast<unsigned>(ir::BarrierMode::reduce_popc);
    instruction.detail = static_cast<std::uint16_t>(which << 8);
    const ir::Operand& predicate = op.sources.back();
    instruction.predicate_source[0] = program_.predicate_number(predicate);
    if (predicate.negated) instruction.flags |= flag_source_negated_0;
    operands_.destinations(op, instruction);
    --given;
  }
  if (op.sources[0].kind == Kind::immediate) {
    instruction.detail |= static_cast<std::uint16_t>(op.sources[0].value & 15);
    program_.program().barriers = std::max(
        program_.program().barriers, static_cast<std::uint32_t>(op.sources[0].value & 15) + 1);
  } else {
    instruction.source[0] = operands_.source(op, 0);
    program_.program().barriers = 16;
  }
  if (given > 1) {
    instruction.source[1] = operands_.source(op, 1);
    instruction.flags |= flag_count_given;
  }
}

}  // namespace lockstep::isa
