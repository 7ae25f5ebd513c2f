/// Properties of one operation for the passes: its reads and writes, its further effects, and the
/// operands that the machine lets it read from constants or registers.
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
/// Returns whether the register is an input or result of the function.
inline bool is_formal(const ir::Function& function, std::uint32_t index) {
  for (const auto* list : {&function.inputs, &function.results})
    for (const ir::Operand& operand : *list)
      if (is_register(operand) && operand.index == index) return true;
  return false;
}
/// Returns whether the operand is in the constant bank: it is equal for a whole grid and known at
/// its start.
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

/// Returns whether the operation keeps the old value of its destination in some lanes.
inline bool is_guarded(const ir::Operation& operation) {
  return operation.guard.kind != Kind::none;
}
inline bool is_branch(const ir::Operation& operation) {
  return isa::is_branch(operation.opcode);
}
/// Returns whether nothing of the block executes after the operation, in any lane.
bool ends_block(const ir::Operation&);
inline bool reads_memory(const ir::Operation& operation) {
  return category_of(operation.opcode) == Category::load ||
         category_of(operation.opcode) == Category::copy ||
         category_of(operation.opcode) == Category::bulk_copy ||
         has_trait(operation.opcode, returns_old_value);
}
inline bool writes_memory(const ir::Operation& operation) {
  return category_of(operation.opcode) == Category::store ||
         category_of(operation.opcode) == Category::atomic ||
         category_of(operation.opcode) == Category::copy ||
         category_of(operation.opcode) == Category::bulk_copy ||
         category_of(operation.opcode) == Category::async_store;
}
/// Returns whether the operation is a load that other loads and unrelated stores may pass.
bool is_weak_load(const ir::Operation&);
/// Returns whether the operation reads other lanes, the clock or which lanes are there: such an
/// operation stays in its block, without a predicate.
bool depends_on_path(const ir::Operation&);
/// Returns whether the operation must stay even if its results are never read.
bool has_side_effect(const ir::Operation&);
/// Returns whether everything before the operation must be done before it, and everything behind it
/// after it, as with barriers, fences and calls.
bool is_scheduling_barrier(const ir::Operation&);
/// Returns whether the result depends only on the operands, so that it may be computed elsewhere or
/// once.
bool is_pure(const ir::Operation&);
bool is_commutative(const ir::Operation&);

/// Returns the number of sources that are neither registers nor zero: the machine takes one per
/// instruction.
unsigned constant_operands(const ir::Operation&);
/// Returns whether the source takes a slot for constants; zero comes from the zero register, and
/// special fields do not count.
bool is_constant_operand(const ir::Operation&, std::size_t source);

}  // namespace lockstep::isa::lowering
