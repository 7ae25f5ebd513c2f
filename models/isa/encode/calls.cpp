/// Calls: parameters travel in rows of their own, so that moving them disturbs nobody; a function
/// that may be entered again below itself first saves what it still needs to its thread's stack.
///
/// Simplified: ptxas passes parameters in fixed registers and keeps callee-saved ones; the number
/// of moves is alike, the saves only happen where recursion is possible.
#include <algorithm>

#include "core/memory/round_up.hpp"
#include "models/isa/encode/encoder.hpp"
#include "models/isa/lowering/analysis/registers.hpp"

namespace lockstep::isa {

Instruction Encoder::made(Opcode opcode, Type type, Operand to,
                          std::initializer_list<Operand> from) const {
  ir::Operation op;
  op.opcode = opcode;
  op.type = type;
  if (opcode == Opcode::cvt) op.source_type = Type::u32;
  ir::Operand any;
  any.kind = Kind::reg;
  op.destinations.push_back(any);
  op.sources.assign(from.size(), any);
  Instruction instruction = common(op);
  bind(op, instruction);
  instruction.destination[0] = to;
  std::copy(from.begin(), from.end(), instruction.source.begin());
  return instruction;
}

std::vector<Operand> Encoder::call_rows(const std::vector<Type>& types) const {
  std::uint32_t singles = call_singles_, pairs = call_pairs_;
  std::vector<Operand> rows;
  for (const Type type : types)
    rows.push_back(rows_of(type) == 2 ? pair(pairs++) : single(singles++));
  return rows;
}

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

void Encoder::prologue(const LinkedFunction& f) {
  const ir::Function& code = *f.input.function;
  if (code.is_entry) {
    if (link_.recursive)
      emit(made(Opcode::mov, Type::b32, single(stack_pointer_), {immediate(link_.local_bytes, 4)}));
    if (stack_end_ != ir::no_register)
      emit(made(Opcode::mov, Type::b32, single(stack_end_), {immediate(stack_base_, 4)}));
    return;
  }
  const std::vector<Type> types = types_of(code, code.inputs);
  const std::vector<Operand> rows = call_rows(types);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const Operand to = register_row(code.inputs[i].index); to.valid())
      emit(made(Opcode::mov, move_type(types[i]), to, {rows[i]}));
}

void Encoder::leave(const ir::Operation& op) {
  const ir::Function& code = *current_->input.function;
  const Instruction end = common(op);
  const std::vector<Type> types = types_of(code, code.results);
  const std::vector<Operand> rows = call_rows(types);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Operand from = register_row(code.results[i].index);
    if (!from.valid()) continue;
    Instruction move = made(Opcode::mov, move_type(types[i]), rows[i], {from});
    move.guard = end.guard;
    move.guard_negated = end.guard_negated;
    emit(move);
  }
  emit(end);
}

void Encoder::call(const ir::Operation& op) {
  const bool indirect = op.sources[0].kind != Kind::function;
  const std::uint32_t cycle =
      indirect ? current_->cycle : link_.functions[link_.position[op.sources[0].index]].cycle;
  const bool may_return_here = current_->recursive && cycle == current_->cycle;
  std::vector<std::uint32_t> kept;
  if (may_return_here) kept = live_across(op);
  save(kept, false);
  move_arguments(op);
  const auto move_stack = [&](std::uint64_t by) {
    if (current_->recursive)
      emit(made(Opcode::add, Type::u32, single(stack_pointer_),
                {single(stack_pointer_), immediate(by, 4)}));
  };
  move_stack(frame_bytes());
  call_instruction(op);
  move_stack(~frame_bytes() + 1);
  save(kept, true);
  move_results(op);
}

void Encoder::call_instruction(const ir::Operation& op) {
  Instruction instruction = common(op);
  if (op.sources[0].kind == Kind::function) {
    calls_.emplace_back(static_cast<std::uint32_t>(program_.instructions.size()),
                        op.sources[0].index);
  } else {
    const ir::Operand& callee = op.sources[0];
    instruction.source[0] = value_row(op, callee, Type::b64);
    const bool narrow = callee.kind == Kind::reg &&
                        rows_of(current_->input.function->registers[callee.index].type) == 1;
    if (!narrow) instruction.flags |= flag_address_wide;
  }
  instruction.reconvergence = no_reconvergence;
  emit(instruction);
}

void Encoder::move_arguments(const ir::Operation& op) {
  const ir::Function& code = *current_->input.function;
  const std::vector<ir::Operand> arguments(op.sources.begin() + 1, op.sources.end());
  std::vector<Type> types = types_of(code, arguments);
  if (op.sources[0].kind == Kind::function) {
    // What the callee declares counts: a constant has no width of its own.
    const LinkedFunction& callee = link_.functions[link_.position[op.sources[0].index]];
    const std::vector<Type> formal =
        types_of(*callee.input.function, callee.input.function->inputs);
    if (formal.size() != types.size())
      unsupported(op, "call with " + std::to_string(types.size()) +
                          " arguments of a function with " + std::to_string(formal.size()));
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (arguments[i].kind == Kind::reg && rows_of(types[i]) != rows_of(formal[i]))
        unsupported(op,
                    "argument " + std::to_string(i + 1) + " has another width than the parameter");
      types[i] = formal[i];
    }
  }
  const std::vector<Operand> rows = call_rows(types);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (types[i] == Type::pred) unsupported(op, "predicates as arguments are not supported");
    const Operand from = value_row(op, arguments[i], move_type(types[i]));
    emit(made(Opcode::mov, move_type(types[i]), rows[i], {from}));
  }
}

void Encoder::move_results(const ir::Operation& op) {
  const std::vector<Type> types = types_of(*current_->input.function, op.destinations);
  const std::vector<Operand> rows = call_rows(types);
  const Instruction guard = common(op);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (op.destinations[i].kind != Kind::reg) continue;
    const Operand to = register_row(op.destinations[i].index);
    if (!to.valid()) continue;
    Instruction move = made(Opcode::mov, move_type(types[i]), to, {rows[i]});
    move.guard = guard.guard;
    move.guard_negated = guard.guard_negated;
    emit(move);
  }
}

std::vector<std::uint32_t> Encoder::live_across(const ir::Operation& op) const {
  const ir::Function& code = *current_->input.function;
  const lowering::Flow flow(code);
  const lowering::Liveness liveness(code, flow);
  std::vector<bool> kept(code.registers.size(), false);
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
    const auto& operations = code.blocks[b].operations;
    if (&op < operations.data() || &op >= operations.data() + operations.size()) continue;
    lowering::LiveWalker walker = liveness.walk(b);
    for (const ir::Operation* o = operations.data() + operations.size() - 1; o != &op; --o)
      walker.step_back(*o);
    walker.live().for_each([&](std::uint32_t r) { kept[r] = true; });
  }
  if (op.guard.kind == Kind::predicate) {
    kept[op.guard.index] = true;
  } else {
    for (const ir::Operand& result : op.destinations)
      if (result.kind == Kind::reg) kept[result.index] = false;
  }
  std::vector<std::uint32_t> result;
  for (std::uint32_t r = 0; r < kept.size(); ++r)
    if (kept[r] && current_->registers.slot[r] != ir::no_register) result.push_back(r);
  return result;
}

std::uint64_t Encoder::frame_bytes() const {
  const RegisterSlots& slots = current_->registers;
  const std::uint64_t locals = round_up(current_->input.function->local_bytes, 8);
  const std::uint64_t bytes = locals + 8u * slots.pairs + 4u * (slots.singles + slots.predicates);
  return round_up(bytes, 16);
}

Instruction Encoder::local_access(bool is_store, Operand row, Type type,
                                  std::uint64_t offset) const {
  ir::Operation op;
  op.opcode = is_store ? Opcode::spill : Opcode::fill;
  op.type = type;
  Instruction instruction = common(op);
  instruction.memory.space = Space::local;
  instruction.memory.type = type;
  instruction.memory.register_bytes = static_cast<std::uint8_t>(bytes_of(type));
  instruction.source[0] = single(stack_pointer_);
  (is_store ? instruction.source[1] : instruction.destination[0]) = row;
  instruction.offset = static_cast<std::int32_t>(offset);
  return instruction;
}

void Encoder::save(const std::vector<std::uint32_t>& registers, bool restore) {
  const RegisterSlots& slots = current_->registers;
  const std::uint64_t pairs = round_up(current_->input.function->local_bytes, 8);
  const std::uint64_t singles = pairs + 8u * slots.pairs;
  const std::uint64_t predicates = singles + 4u * slots.singles;
  for (const std::uint32_t r : registers) {
    const std::uint32_t slot = slots.slot[r];
    const unsigned rows = rows_of(current_->input.function->registers[r].type);
    if (rows != 0) {
      emit(local_access(!restore, register_row(r), rows == 2 ? Type::b64 : Type::b32,
                        rows == 2 ? pairs + 8u * slot : singles + 4u * slot));
      continue;
    }
    // A predicate goes through a register.
    ir::Operation op;
    ir::Operand value, predicate;
    value.kind = Kind::reg;
    predicate.kind = Kind::predicate;
    predicate.index = r;
    op.type = restore ? Type::s32 : Type::b32;
    op.opcode = restore ? Opcode::setp : Opcode::selp;
    op.comparison = restore ? Comparison::ne : Comparison::none;
    op.destinations.push_back(restore ? predicate : value);
    op.sources = restore ? std::vector{value, value} : std::vector{value, value, predicate};
    Instruction convert = common(op);
    bind(op, convert);
    const Operand spare = single(spare_single_);
    if (restore) {
      convert.source[0] = spare;
      convert.source[1] = immediate(0, 4);
      convert.predicate_destination[0] = predicate_number(predicate);
      emit(local_access(false, spare, Type::b32, predicates + 4u * slot));
      emit(convert);
    } else {
      convert.source[0] = immediate(1, 4);
      convert.source[1] = immediate(0, 4);
      convert.predicate_source[0] = predicate_number(predicate);
      convert.destination[0] = spare;
      emit(convert);
      emit(local_access(true, spare, Type::b32, predicates + 4u * slot));
    }
  }
}

}  // namespace lockstep::isa
