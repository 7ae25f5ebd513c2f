#include "models/isa/encode/encoder.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/isa/control_flow/control_flow.hpp"
#include "models/isa/lowering/memory/shared_layout.hpp"
#include "models/isa/opcodes/execution_class.hpp"
#include "models/isa/opcodes/issue_slots.hpp"
#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa {
namespace {

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

}  // namespace

Encoder::Encoder(const SourceModule& module, std::uint32_t kernel,
                 std::span<const LinkInput> functions)
    : module_(module),
      kernel_(kernel),
      link_(link(kernel, functions, functions_in_variables(module))) {}

std::optional<Program> encode(const SourceModule& module, std::uint32_t kernel,
                              std::span<const LinkInput> functions) {
  return Encoder(module, kernel, functions).encode();
}

std::optional<Program> Encoder::encode() {
  header(module_.functions[kernel_]);
  place_shared();
  place_call_rows();
  if (!registers_fit()) return std::nullopt;
  program_.function_entries.assign(module_.functions.size(), no_reconvergence);
  for (const LinkedFunction& f : link_.functions) function(f);
  for (const auto& [pc, callee] : calls_)
    program_.instructions[pc].target = program_.function_entries[callee];
  find_needs(program_);
  return std::move(program_);
}

void Encoder::header(const SourceFunction& kernel) {
  program_.name = kernel.code.name;
  program_.parameters = kernel.parameters;
  program_.parameter_bytes = kernel.parameter_bytes;
  program_.required_block = kernel.required_block;
  program_.maximum_threads = kernel.maximum_threads;
}

void Encoder::place_shared() {
  const ir::Function& kernel = *link_.functions.front().input.function;
  SharedLayout layout;
  if (kernel.shared_placed) {
    layout.bytes = kernel.shared_bytes;
  } else {
    std::vector<bool> used(kernel.shared.size(), false);
    for (const LinkedFunction& f : link_.functions) mark_shared(*f.input.function, used);
    layout = lay_out_shared(kernel.shared, used);
  }
  shared_offsets_ = std::move(layout.offsets);
  program_.static_shared_bytes = static_cast<std::uint32_t>(layout.bytes);
}

void Encoder::place_call_rows() {
  std::uint32_t singles = 0, pairs = 0;
  for (const LinkedFunction& f : link_.functions) {
    const auto count = [&](const std::vector<ir::Operand>& formals) {
      std::uint32_t s = 0, p = 0;
      for (const ir::Operand& formal : formals)
        ++(rows_of(f.input.function->registers[formal.index].type) == 2 ? p : s);
      singles = std::max(singles, s);
      pairs = std::max(pairs, p);
    };
    count(f.input.function->inputs);
    count(f.input.function->results);
  }
  call_pairs_ = link_.pairs;
  call_singles_ = link_.singles;
  pairs_ = link_.pairs + pairs;
  std::uint32_t all_singles = link_.singles + singles;
  if (link_.recursive) {
    spare_pair_ = pairs_++;
    spare_single_ = all_singles++;
    stack_pointer_ = all_singles++;
  }
  if (uses_stack()) stack_end_ = all_singles++;
  program_.pair_rows = 2 * pairs_;
  program_.rows = 2 * pairs_ + all_singles;
  program_.predicates = link_.predicates;
  program_.registers_per_thread = program_.rows;
  place_local();
}

bool Encoder::registers_fit() const {
  return program_.rows <= Operand::largest_row && program_.predicates <= no_predicate;
}

void Encoder::place_local() {
  program_.recursive = link_.recursive;
  program_.local_bytes =
      static_cast<std::uint32_t>(link_.local_bytes) + (link_.recursive ? recursion_stack_bytes : 0);
  if (stack_end_ == ir::no_register) return;
  stack_base_ = program_.local_bytes;
  program_.local_bytes += stack_bytes;
}

void Encoder::function(const LinkedFunction& f) {
  current_ = &f;
  const ir::Function& code = *f.input.function;
  const auto table_base = static_cast<std::uint32_t>(program_.branch_tables.size());
  const std::size_t first_instruction = program_.instructions.size();
  program_.function_entries[f.index] = static_cast<std::uint32_t>(first_instruction);
  const std::vector<std::uint32_t> meetings = immediate_post_dominators(code);
  block_start_.clear();
  fixups_.clear();
  line_ = code.blocks[0].operations.empty() ? 0 : code.blocks[0].operations[0].line;
  prologue(f);
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
    block_start_.push_back(static_cast<std::uint32_t>(program_.instructions.size()));
    for (const ir::Operation& op : code.blocks[b].operations) operation(op, meetings[b]);
  }
  for (const Fixup& fixup : fixups_)
    (fixup.is_meeting ? program_.instructions[fixup.pc].reconvergence
                      : program_.instructions[fixup.pc].target) = block_start_[fixup.block];
  for (const std::vector<std::uint32_t>& table : code.branch_tables) {
    std::vector<std::uint32_t> targets;
    for (const std::uint32_t block : table) targets.push_back(block_start_[block]);
    program_.branch_tables.push_back(std::move(targets));
  }
  for (std::size_t pc = first_instruction; pc < program_.instructions.size(); ++pc)
    if (program_.instructions[pc].category == Category::branch_indexed)
      program_.instructions[pc].target += table_base;
}

std::uint32_t Encoder::emit(const Instruction& instruction) {
  program_.instructions.push_back(instruction);
  program_.source_lines.push_back(line_);
  return static_cast<std::uint32_t>(program_.instructions.size() - 1);
}

void Encoder::unsupported(const ir::Operation& op, const std::string& why) const {
  throw UserError(module_.file + ":" + std::to_string(op.line) + ":" + std::to_string(op.column),
                  why);
}

Instruction Encoder::common(const ir::Operation& op) const {
  Instruction instruction;
  const ExecutionClass where = execution_class(op);
  instruction.category = where.category;
  instruction.unit = where.unit;
  instruction.latency_class = where.latency;
  instruction.opcode = op.opcode;
  instruction.issue_slots = static_cast<std::uint8_t>(std::clamp(issue_slots(op), 1u, 255u));
  if (op.guard.kind == Kind::predicate) {
    instruction.guard = predicate_number(op.guard);
    instruction.guard_negated = op.guard.negated;
  }
  if (op.uniform) instruction.flags |= flag_uniform;
  if (op.sync) instruction.flags |= flag_needs_all_lanes;
  return instruction;
}

void Encoder::bind(const ir::Operation& op, Instruction& instruction) const {
  if (!bind_semantics(op, instruction))
    unsupported(op, "instruction is not supported with these types and modifiers");
}

void Encoder::operation(const ir::Operation& op, std::uint32_t meeting) {
  if (op.line != 0) line_ = op.line;
  if (op.opcode == Opcode::stack_save || op.opcode == Opcode::stack_restore) {
    move_stack_end(op);
    return;
  }
  Instruction instruction = common(op);
  switch (instruction.category) {
    case Category::arithmetic:
    case Category::shuffle_vote:
      operands(op, instruction);
      destinations(op, instruction);
      bind(op, instruction);
      emit(instruction);
      break;
    case Category::load:
    case Category::store:
    case Category::atomic:
    case Category::prefetch:
      memory(op, instruction);
      emit(instruction);
      break;
    case Category::fence:
      instruction.memory.ordering = op.ordering;
      instruction.memory.scope = op.scope;
      emit(instruction);
      break;
    case Category::barrier:
      barrier(op, instruction);
      emit(instruction);
      break;
    case Category::sleep:
      operands(op, instruction);
      emit(instruction);
      break;
    case Category::print:
      operands(op, instruction);
      destinations(op, instruction);
      instruction.detail = op.mode;
      emit(instruction);
      break;
    case Category::call:
    case Category::call_indirect:
      call(op);
      break;
    default:
      control(op, instruction, meeting);
  }
}

void Encoder::control(const ir::Operation& op, Instruction& instruction, std::uint32_t meeting) {
  switch (instruction.category) {
    case Category::branch:
      fixups_.push_back(
          {static_cast<std::uint32_t>(program_.instructions.size()), op.sources[0].index, false});
      break;
    case Category::branch_indexed:
      instruction.source[0] = source(op, 0);
      instruction.target = op.immediate;
      break;
    case Category::warp_barrier:
      instruction.source[0] = source(op, 0);
      break;
    case Category::trap:
      instruction.detail = op.mode;
      for (std::size_t s = 0; s < op.sources.size(); ++s) instruction.source[s] = source(op, s);
      break;
    case Category::ret:
      if (!current_->input.function->is_entry) {
        leave(op);
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
  if (branches && meeting != no_block)
    fixups_.push_back({static_cast<std::uint32_t>(program_.instructions.size()), meeting, true});
  emit(instruction);
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
    instruction.predicate_source[0] = predicate_number(predicate);
    if (predicate.negated) instruction.flags |= flag_source_negated_0;
    destinations(op, instruction);
    --given;
  }
  if (op.sources[0].kind == Kind::immediate) {
    instruction.detail |= static_cast<std::uint16_t>(op.sources[0].value & 15);
    program_.barriers =
        std::max(program_.barriers, static_cast<std::uint32_t>(op.sources[0].value & 15) + 1);
  } else {
    instruction.source[0] = source(op, 0);
    program_.barriers = 16;
  }
  if (given > 1) {
    instruction.source[1] = source(op, 1);
    instruction.flags |= flag_count_given;
  }
}

}  // namespace lockstep::isa
