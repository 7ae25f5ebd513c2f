/// Constant propagation and folding, and the identities that let later passes see their patterns.
///
/// Immediates go into every operand that can read one; at the end, allocation/legalize.cpp moves
/// immediates into registers for which the machine instruction has no room.
/// Source: architecture.md, section 3 "isa".
#include <bit>
#include <unordered_map>

#include "models/isa/lowering/analysis/evaluate.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

bool is_integer(Type type) {
  return type >= Type::b8 && type <= Type::s64;
}

bool is_constant_move(const ir::Operation& operation, bool parameters) {
  return operation.opcode == Opcode::mov && !is_guarded(operation) &&
         operation.sources.size() == 1 && operation.destinations.size() == 1 &&
         operation.destinations[0].kind == Kind::reg &&
         (operation.sources[0].kind == Kind::immediate ||
          (parameters && is_constant_bank(operation.sources[0])));
}

ir::Operand constant_of(const ir::Operation& move) {
  ir::Operand operand = move.sources[0];
  if (operand.kind == Kind::immediate) operand.value = as_type(operand.value, move.type);
  return operand;
}

bool may_read(const ir::Operation& operation, std::size_t s, const ir::Operand& constant) {
  if (constant.kind == Kind::parameter &&
      bytes_of(constant.type) != bytes_of(constant_type(operation, s)))
    return false;
  if (accepts_constant(operation, s)) return true;
  // A variable's place in the frame is a part of the offset.
  if (constant.kind == Kind::local_symbol && operation.space == Space::local && s == 0 &&
      (operation.opcode == Opcode::ld || operation.opcode == Opcode::st))
    return true;
  // The zero register can be stored directly; other data of a store need registers.
  return operation.opcode == Opcode::st && s > 0 && constant.kind == Kind::immediate &&
         constant.value == 0;
}

using Values = std::unordered_map<std::uint32_t, ir::Operand>;

bool substitute(ir::Operation& operation, const Values& values) {
  bool changed = false;
  for (std::size_t s = 0; s < operation.sources.size(); ++s) {
    ir::Operand& source = operation.sources[s];
    if (source.kind != Kind::reg) continue;
    const auto it = values.find(source.index);
    if (it == values.end() || !may_read(operation, s, it->second)) continue;
    const Type type = source.type;
    source = it->second;
    if (source.kind != Kind::parameter) source.type = type;
    changed = true;
  }
  return changed;
}

void become_move(ir::Operation& operation, const ir::Operand& source, Type type) {
  operation.opcode = Opcode::mov;
  operation.sources = {source};
  operation.type = type;
  operation.source_type = Type::none;
  operation.part = MulPart::none;
  operation.mode = 0;
  operation.immediate = 0;
}

bool is_immediate(const ir::Operation& operation, std::size_t s, std::int64_t value) {
  return operation.sources[s].kind == Kind::immediate &&
         as_type(operation.sources[s].value, operation.type) == as_type(value, operation.type);
}

// x + 0, x * 1, x << 0, x & ~0, ... are copies of x.
bool is_identity(const ir::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::shl:
    case Opcode::shr:
      return is_immediate(operation, 1, 0);
    case Opcode::mul:
      return operation.part == MulPart::lo && is_immediate(operation, 1, 1);
    case Opcode::and_:
      return is_immediate(operation, 1, -1);
    default:
      return false;
  }
}

bool simplify(ir::Operation& operation) {
  if (operation.sources.size() != 2 || !is_integer(operation.type) || operation.carry_out)
    return false;
  if (operation.saturate) return false;
  bool changed = false;
  if (is_commutative(operation) && operation.sources[0].kind == Kind::immediate &&
      operation.sources[1].kind != Kind::immediate) {
    std::swap(operation.sources[0], operation.sources[1]);
    changed = true;
  }
  if (operation.sources[1].kind != Kind::immediate) return changed;
  if (is_identity(operation)) {
    become_move(operation, operation.sources[0], operation.type);
    return true;
  }
  if (operation.opcode == Opcode::sub) {
    operation.opcode = Opcode::add;
    operation.sources[1].value = as_type(-operation.sources[1].value, operation.type);
    return true;
  }
  const auto factor =
      static_cast<std::uint64_t>(as_type(operation.sources[1].value, operation.type));
  if (operation.opcode == Opcode::mul && operation.part == MulPart::lo &&
      std::has_single_bit(factor)) {
    operation.opcode = Opcode::shl;
    operation.part = MulPart::none;
    operation.sources[1].value = std::countr_zero(factor);
    return true;
  }
  return changed;
}

bool fold(ir::Operation& operation) {
  if (operation.opcode == Opcode::mov || operation.destinations.size() != 1 ||
      operation.destinations[0].kind != Kind::reg)
    return false;
  if (const auto value = evaluate(operation)) {
    const bool wide = operation.part == MulPart::wide;
    const Type type =
        wide ? (bytes_of(operation.type) == 4 ? Type::b64 : Type::b32) : operation.type;
    become_move(operation, immediate_operand(wide ? *value : as_type(*value, operation.type)),
                type);
    return true;
  }
  return simplify(operation);
}

bool propagate_in_block(ir::Block& block, bool parameters) {
  Values values;
  bool changed = false;
  for (ir::Operation& operation : block.operations) {
    changed = substitute(operation, values) || changed;
    changed = fold(operation) || changed;
    for_each_definition(operation, [&](const ir::Operand& d) { values.erase(d.index); });
    if (is_constant_move(operation, parameters))
      values[operation.destinations[0].index] = constant_of(operation);
  }
  return changed;
}

}  // namespace

bool fold_constants(ir::Function& function, bool parameters) {
  const Definitions definitions(function);
  Values values;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      if (is_constant_move(operation, parameters) &&
          definitions.is_single(operation.destinations[0].index))
        values[operation.destinations[0].index] = constant_of(operation);
  bool changed = false;
  for (ir::Block& block : function.blocks) {
    if (!values.empty())
      for (ir::Operation& operation : block.operations)
        changed = substitute(operation, values) || changed;
    changed = propagate_in_block(block, parameters) || changed;
  }
  return changed;
}

}  // namespace lockstep::isa::lowering
