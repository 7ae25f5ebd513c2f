#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

std::uint32_t new_register(ir::Function& function, Type type) {
  const auto index = static_cast<std::uint32_t>(function.registers.size());
  function.registers.push_back({"%m" + std::to_string(index), type});
  return index;
}

bool is_constant_bank(const ir::Operand& operand) {
  using ir::SpecialRegister;
  switch (operand.kind) {
    case Kind::parameter:
    case Kind::global_symbol:
    case Kind::constant_symbol:
    case Kind::shared_symbol:
    case Kind::local_symbol:
      return true;
    default:
      return false;
  }
}

bool same_value(const ir::Operand& a, const ir::Operand& b) {
  return a.kind == b.kind && a.negated == b.negated && a.index == b.index && a.value == b.value;
}

bool ends_block(const ir::Operation& operation) {
  return (is_branch(operation) || ends_thread(operation.opcode)) && !is_guarded(operation);
}

bool is_weak_load(const ir::Operation& operation) {
  return category_of(operation.opcode) == Category::load && operation.ordering == Ordering::weak &&
         operation.cache != CacheOperator::cv;
}

bool depends_on_path(const ir::Operation& operation) {
  if (has_trait(operation.opcode, depends_on_lanes)) return true;
  if (operation.opcode != Opcode::mov || operation.sources.empty() ||
      operation.sources[0].kind != Kind::special)
    return false;
  using ir::SpecialRegister;
  const auto which = static_cast<SpecialRegister>(operation.sources[0].index);
  return which >= SpecialRegister::clock && which <= SpecialRegister::globaltimer_hi;
}

bool has_side_effect(const ir::Operation& operation) {
  switch (category_of(operation.opcode)) {
    case Category::load:
      return !is_weak_load(operation);
    case Category::store:
    case Category::atomic:
    case Category::prefetch:
    case Category::copy:
    case Category::copy_group:
    case Category::bulk_copy:
    case Category::bulk_group:
    case Category::async_store:
    case Category::warpgroup_product:
    case Category::warpgroup_step:
    case Category::register_limit:
    case Category::phase_wait:
    case Category::fence:
    case Category::grid_dependency:
      return true;
    default:
      return is_branch(operation) || ends_thread(operation.opcode) || depends_on_path(operation);
  }
}

bool is_scheduling_barrier(const ir::Operation& operation) {
  switch (category_of(operation.opcode)) {
    case Category::load:
      return !is_weak_load(operation);
    case Category::store:
      return operation.ordering != Ordering::weak || operation.cache == CacheOperator::wt;
    case Category::atomic:
    case Category::copy:
    case Category::copy_group:
    case Category::bulk_copy:
    case Category::bulk_group:
    case Category::async_store:
    case Category::warpgroup_product:
    case Category::warpgroup_step:
    case Category::register_limit:
    case Category::phase_wait:
    case Category::fence:
    case Category::grid_dependency:
      return true;
    case Category::shuffle_vote:
      // Products of matrices have all lanes, wherever they are in a block.
      if (operation.opcode == Opcode::mma || operation.opcode == Opcode::movmatrix) return false;
      [[fallthrough]];
    default:
      return is_branch(operation) || ends_thread(operation.opcode) || depends_on_path(operation);
  }
}

bool is_pure(const ir::Operation& operation) {
  return !has_side_effect(operation) && !reads_memory(operation) && operation.opcode != Opcode::nop;
}

bool is_commutative(const ir::Operation& operation) {
  return has_trait(operation.opcode, commutes) ||
         (has_trait(operation.opcode, commutes_if_integer) && !is_float(operation.type));
}

bool is_constant_operand(const ir::Operation& operation, std::size_t source) {
  const ir::Operand& operand = operation.sources[source];
  switch (operand.kind) {
    case Kind::immediate:
      return !has_trait(operation.opcode, has_immediate_field) && operand.value != 0 &&
             operand.type != Type::pred;
    case Kind::parameter:
    case Kind::special:
    case Kind::global_symbol:
    case Kind::constant_symbol:
    case Kind::shared_symbol:
    case Kind::local_symbol:
    case Kind::function:
      return true;
    default:
      return false;
  }
}

unsigned constant_operands(const ir::Operation& operation) {
  unsigned count = 0;
  for (std::size_t s = 0; s < operation.sources.size(); ++s)
    count += is_constant_operand(operation, s) ? 1 : 0;
  return count;
}

}  // namespace lockstep::isa::lowering
