/// What the passes ask of one operation: what it reads and writes, what it may do besides, and
/// which operands the machine lets it read from where.
#pragma once

#include "models/isa/ir.hpp"
#include "models/isa/opcodes/operand_types.hpp"
#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa::lowering {

using Kind = ir::Operand::Kind;
using ir::immediate_operand;
using ir::MulPart;
using ir::predicate_operand;
using ir::register_operand;

inline bool is_register(const ir::Operand& operand) {
  return (operand.kind == Kind::reg || operand.kind == Kind::predicate) &&
         operand.index != ir::no_register;
}
/// An input or result of the function.
inline bool is_formal(const ir::Function& function, std::uint32_t index) {
  for (const auto* list : {&function.inputs, &function.results})
    for (const ir::Operand& operand : *list)
      if (is_register(operand) && operand.index == index) return true;
  return false;
}
/// The same for a whole grid and known at its start: what the constant bank holds.
bool is_constant_bank(const ir::Operand& operand);

/// Calls `visit` with every register operand read: guard, then sources.
template <class Op, class Visit>
void for_each_use(Op& operation, Visit&& visit) {
  if (is_register(operation.guard)) visit(operation.guard);
  for (auto& source : operation.sources)
    if (is_register(source)) visit(source);
}
/// Calls `visit` with every register operand written.
template <class Op, class Visit>
void for_each_definition(Op& operation, Visit&& visit) {
  for (auto& destination : operation.destinations)
    if (is_register(destination)) visit(destination);
}

std::uint32_t new_register(ir::Function& function, Type type);

bool same_value(const ir::Operand& a, const ir::Operand& b);

/// A write that keeps the old value in some lanes.
inline bool is_guarded(const ir::Operation& operation) {
  return operation.guard.kind != Kind::none;
}
inline bool is_branch(const ir::Operation& operation) {
  return isa::is_branch(operation.opcode);
}
/// Nothing of the block executes after it, in any lane.
bool ends_block(const ir::Operation&);
inline bool reads_memory(const ir::Operation& operation) {
  return category_of(operation.opcode) == Category::load ||
         category_of(operation.opcode) == Category::copy ||
         has_trait(operation.opcode, returns_old_value);
}
inline bool writes_memory(const ir::Operation& operation) {
  return category_of(operation.opcode) == Category::store ||
         category_of(operation.opcode) == Category::atomic ||
         category_of(operation.opcode) == Category::copy;
}
/// A load that other loads and unrelated stores may pass.
bool is_weak_load(const ir::Operation&);
/// Looks at other lanes, at the clock or at which lanes are there: stays in its block,
/// unpredicated.
bool depends_on_path(const ir::Operation&);
/// Must stay even if nobody reads its results.
bool has_side_effect(const ir::Operation&);
/// Everything before must be done before, everything after after: barriers, fences, calls, ...
bool is_scheduling_barrier(const ir::Operation&);
/// The result depends on the operands only, so that it may be computed elsewhere or once.
bool is_pure(const ir::Operation&);
bool is_commutative(const ir::Operation&);

/// Sources that are neither registers nor zero: the machine takes one per instruction.
unsigned constant_operands(const ir::Operation&);
/// Takes a slot for constants; zero comes from the zero register and special fields do not count.
bool is_constant_operand(const ir::Operation&, std::size_t source);

}  // namespace lockstep::isa::lowering
