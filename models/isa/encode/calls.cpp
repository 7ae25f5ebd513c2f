/// Calls: parameters are passed in rows of their own, so that moving them overwrites no other
/// value.  A function that may call itself first saves the values that it still needs to its
/// thread's stack.
///
/// Simplified: ptxas passes parameters in fixed registers and keeps callee-saved ones. The number
/// of moves is about the same here, but registers are saved only where recursion is possible.
#include "models/isa/encode/calls.hpp"

#include <algorithm>
#include <set>

#include "core/memory/round_up.hpp"
#include "models/isa/lowering/analysis/liveness.hpp"

namespace lockstep::isa {
namespace {

std::vector<Type> types_of(const ir::Function& function, const std::vector<ir::Operand>& formals) {
  std::vector<Type> types;
  for (const ir::Operand& formal : formals)
    types.push_back(formal.kind == ir::Operand::Kind::reg ? function.registers[formal.index].type
                    : formal.type == Type::none           ? Type::b32
                                                          : formal.type);
  return types;
}

Type move_type(Type type) {
  return rows_of(type) == 2 ? Type::b64 : Type::b32;
}

}  // namespace

void CallEncoder::prologue(std::uint32_t stack_base) {
  const ir::Function& code = program_.code();
  const RowLayout& layout = program_.rows();
  const auto set = [&](Operand row, std::uint64_t value) {
    program_.emit(program_.made(Opcode::mov, Type::b32, row, {program_.immediate(value, 4)}));
  };
  if (code.is_entry) {
    if (program_.link().recursive) set(layout.stack_pointer(), program_.link().local_bytes);
    if (layout.has_stack_end()) set(layout.stack_end(), stack_base);
    return;
  }
  const std::vector<Type> types = types_of(code, code.inputs);
  const std::vector<Operand> rows = layout.call_rows(types);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const Operand to = program_.register_row(code.inputs[i].index); to.valid())
      program_.emit(program_.made(Opcode::mov, move_type(types[i]), to, {rows[i]}));
}

void CallEncoder::move(Type type, Operand to, Operand from, const Instruction& guarded) {
  Instruction result = program_.made(Opcode::mov, move_type(type), to, {from});
  result.guard = guarded.guard;
  result.guard_negated = guarded.guard_negated;
  program_.emit(result);
}

void CallEncoder::move_stack_end(const ir::Operation& op) {
  const Operand end = program_.rows().stack_end();
  const Instruction guarded = program_.common(op);
  if (op.opcode == Opcode::stack_restore) {
    move(Type::b32, end, operands_.source(op, 0), guarded);
  } else if (const Operand to = program_.register_row(op.destinations[0].index); to.valid()) {
    move(Type::b32, to, end, guarded);
  }
}

void CallEncoder::resolve() {
  for (const auto& [pc, callee] : calls_)
    program_.program().instructions[pc].target = program_.program().function_entries[callee];
}

void CallEncoder::leave(const ir::Operation& op) {
  const ir::Function& code = program_.code();
  const Instruction end = program_.common(op);
  const std::vector<Type> types = types_of(code, code.results);
  const std::vector<Operand> rows = program_.rows().call_rows(types);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const Operand from = program_.register_row(code.results[i].index); from.valid())
      move(types[i], rows[i], from, end);
  program_.emit(end);
}

void CallEncoder::call(const ir::Operation& op) {
  const bool indirect = op.sources[0].kind != Kind::function;
  const std::uint32_t cycle =
      indirect ? program_.current().cycle
               : program_.link().functions[program_.link().position[op.sources[0].index]].cycle;
  const bool may_return_here = program_.current().recursive && cycle == program_.current().cycle;
  std::vector<std::uint32_t> kept;
  if (may_return_here) kept = live_across(op);
  save(kept, false);
  move_arguments(op);
  const auto move_stack = [&](std::uint64_t by) {
    if (program_.current().recursive)
      program_.emit(program_.made(Opcode::add, Type::u32, program_.rows().stack_pointer(),
                                  {program_.rows().stack_pointer(), program_.immediate(by, 4)}));
  };
  move_stack(frame_bytes());
  call_instruction(op);
  move_stack(~frame_bytes() + 1);
  save(kept, true);
  move_results(op);
}

void CallEncoder::call_instruction(const ir::Operation& op) {
  Instruction instruction = program_.common(op);
  if (op.sources[0].kind == Kind::function) {
    calls_.emplace_back(program_.next_pc(), op.sources[0].index);
  } else {
    const ir::Operand& callee = op.sources[0];
    instruction.source[0] = operands_.value_row(op, callee, Type::b64);
    const bool narrow =
        callee.kind == Kind::reg && rows_of(program_.code().registers[callee.index].type) == 1;
    if (!narrow) instruction.flags |= flag_address_wide;
  }
  instruction.reconvergence = no_reconvergence;
  program_.emit(instruction);
}

void CallEncoder::move_arguments(const ir::Operation& op) {
  const ir::Function& code = program_.code();
  const std::vector<ir::Operand> arguments(op.sources.begin() + 1, op.sources.end());
  std::vector<Type> types = types_of(code, arguments);
  if (op.sources[0].kind == Kind::function) {
    // The callee's declared type decides: a constant has no width of its own.
    const LinkedFunction& callee =
        program_.link().functions[program_.link().position[op.sources[0].index]];
    const std::vector<Type> formal =
        types_of(*callee.input.function, callee.input.function->inputs);
    if (formal.size() != types.size())
      program_.unsupported(op, "call with " + std::to_string(types.size()) +
                                   " arguments of a function with " +
                                   std::to_string(formal.size()));
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (arguments[i].kind == Kind::reg && rows_of(types[i]) != rows_of(formal[i]))
        program_.unsupported(
            op, "argument " + std::to_string(i + 1) + " has another width than the parameter");
      types[i] = formal[i];
    }
  }
  const std::vector<Operand> rows = program_.rows().call_rows(types);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (types[i] == Type::pred)
      program_.unsupported(op, "predicates as arguments are not supported");
    const Operand from = operands_.value_row(op, arguments[i], move_type(types[i]));
    program_.emit(program_.made(Opcode::mov, move_type(types[i]), rows[i], {from}));
  }
}

void CallEncoder::move_results(const ir::Operation& op) {
  const std::vector<Type> types = types_of(program_.code(), op.destinations);
  const std::vector<Operand> rows = program_.rows().call_rows(types);
  const Instruction guarded = program_.common(op);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (op.destinations[i].kind != Kind::reg) continue;
    if (const Operand to = program_.register_row(op.destinations[i].index); to.valid())
      move(types[i], to, rows[i], guarded);
  }
}

/// Registers live behind each call of the function being encoded.
void CallEncoder::find_live_behind_calls() {
  const ir::Function& code = program_.code();
  const lowering::Flow flow(code);
  const lowering::Liveness liveness(code, flow);
  lowering::LiveWalker walker(code);
  live_behind_.clear();
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
    walker.begin(liveness.live_out[b]);
    const auto& operations = code.blocks[b].operations;
    for (auto o = operations.size(); o-- > 0; walker.step_back(operations[o]))
      if (operations[o].opcode == Opcode::call)
        live_behind_[&operations[o]] = walker.live().members();
  }
  analysed_ = &program_.current();
}

std::vector<std::uint32_t> CallEncoder::live_across(const ir::Operation& op) {
  if (analysed_ != &program_.current()) find_live_behind_calls();
  std::set<std::uint32_t> kept(live_behind_[&op].begin(), live_behind_[&op].end());
  if (op.guard.kind == Kind::predicate) {
    kept.insert(op.guard.index);
  } else {
    for (const ir::Operand& result : op.destinations)
      if (result.kind == Kind::reg) kept.erase(result.index);
  }
  std::erase_if(kept, [&](std::uint32_t r) {
    return program_.current().registers.slot[r] == ir::no_register;
  });
  return {kept.begin(), kept.end()};
}

std::uint64_t CallEncoder::frame_bytes() const {
  const RegisterSlots& slots = program_.current().registers;
  const std::uint64_t locals = round_up(program_.code().local_bytes, 8);
  const std::uint64_t bytes = locals + 8u * slots.pairs + 4u * (slots.singles + slots.predicates);
  return round_up(bytes, 16);
}

Instruction CallEncoder::local_access(bool is_store, Operand row, Type type,
                                      std::uint64_t offset) const {
  ir::Operation op;
  op.opcode = is_store ? Opcode::spill : Opcode::fill;
  op.type = type;
  Instruction instruction = program_.common(op);
  instruction.memory.space = Space::local;
  instruction.memory.type = type;
  instruction.memory.register_bytes = static_cast<std::uint8_t>(bytes_of(type));
  instruction.source[0] = program_.rows().stack_pointer();
  (is_store ? instruction.source[1] : instruction.destination[0]) = row;
  instruction.offset = static_cast<std::int32_t>(offset);
  return instruction;
}

void CallEncoder::save(const std::vector<std::uint32_t>& registers, bool restore) {
  const RegisterSlots& slots = program_.current().registers;
  const std::uint64_t pairs = round_up(program_.code().local_bytes, 8);
  const std::uint64_t singles = pairs + 8u * slots.pairs;
  const std::uint64_t predicates = singles + 4u * slots.singles;
  for (const std::uint32_t r : registers) {
    const std::uint32_t slot = slots.slot[r];
    const unsigned rows = rows_of(program_.code().registers[r].type);
    if (rows != 0) {
      program_.emit(local_access(!restore, program_.register_row(r),
                                 rows == 2 ? Type::b64 : Type::b32,
                                 rows == 2 ? pairs + 8u * slot : singles + 4u * slot));
      continue;
    }
    save_predicate(r, predicates + 4u * slot, restore);
  }
}

/// A predicate goes through a register.
void CallEncoder::save_predicate(std::uint32_t index, std::uint64_t offset, bool restore) {
  ir::Operation op;
  ir::Operand value, predicate;
  value.kind = Kind::reg;
  predicate.kind = Kind::predicate;
  predicate.index = index;
  op.type = restore ? Type::s32 : Type::b32;
  op.opcode = restore ? Opcode::setp : Opcode::selp;
  op.comparison = restore ? Comparison::ne : Comparison::none;
  op.destinations.push_back(restore ? predicate : value);
  op.sources = restore ? std::vector{value, value} : std::vector{value, value, predicate};
  Instruction convert = program_.common(op);
  program_.bind(op, convert);
  const Operand spare = program_.rows().spare_single();
  if (restore) {
    convert.source[0] = spare;
    convert.source[1] = program_.immediate(0, 4);
    convert.predicate_destination[0] = program_.predicate_number(predicate);
    program_.emit(local_access(false, spare, Type::b32, offset));
    program_.emit(convert);
  } else {
    convert.source[0] = program_.immediate(1, 4);
    convert.source[1] = program_.immediate(0, 4);
    convert.predicate_source[0] = program_.predicate_number(predicate);
    convert.destination[0] = spare;
    program_.emit(convert);
    program_.emit(local_access(true, spare, Type::b32, offset));
  }
}

}  // namespace lockstep::isa
