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

bool is_branch(const ir::Operation& operation) {
  return operation.opcode == Opcode::bra || operation.opcode == Opcode::brx;
}

bool ends_block(const ir::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::bra:
    case Opcode::brx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
      return !is_guarded(operation);
    default:
      return false;
  }
}

bool reads_memory(const ir::Operation& operation) {
  return operation.opcode == Opcode::ld || operation.opcode == Opcode::ldu ||
         operation.opcode == Opcode::atom || operation.opcode == Opcode::fill;
}

bool writes_memory(const ir::Operation& operation) {
  return operation.opcode == Opcode::st || operation.opcode == Opcode::atom ||
         operation.opcode == Opcode::red || operation.opcode == Opcode::spill;
}

bool is_weak_load(const ir::Operation& operation) {
  return (operation.opcode == Opcode::ld || operation.opcode == Opcode::ldu ||
          operation.opcode == Opcode::fill) &&
         operation.ordering == Ordering::weak && operation.cache != CacheOperator::cv;
}

bool depends_on_path(const ir::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::shfl:
    case Opcode::vote:
    case Opcode::match:
    case Opcode::activemask:
    case Opcode::redux:
    case Opcode::elect:
    case Opcode::bar:
    case Opcode::bar_warp:
    case Opcode::call:
    case Opcode::nanosleep:
    case Opcode::pmevent:
    case Opcode::brkpt:
    case Opcode::print:
    case Opcode::stack_save:
    case Opcode::stack_restore:
      return true;
    case Opcode::mov: {
      if (operation.sources.empty() || operation.sources[0].kind != Kind::special) return false;
      using ir::SpecialRegister;
      const auto which = static_cast<SpecialRegister>(operation.sources[0].index);
      return which >= SpecialRegister::clock && which <= SpecialRegister::globaltimer_hi;
    }
    default:
      return false;
  }
}

bool has_side_effect(const ir::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
    case Opcode::spill:
    case Opcode::prefetch:
    case Opcode::fence:
    case Opcode::bra:
    case Opcode::brx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
      return true;
    case Opcode::ld:
    case Opcode::ldu:
      return !is_weak_load(operation);
    default:
      return depends_on_path(operation);
  }
}

bool is_scheduling_barrier(const ir::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::fence:
    case Opcode::atom:
    case Opcode::red:
    case Opcode::bra:
    case Opcode::brx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
      return true;
    case Opcode::ld:
    case Opcode::ldu:
      return !is_weak_load(operation);
    case Opcode::st:
      return operation.ordering != Ordering::weak || operation.cache == CacheOperator::wt;
    default:
      return depends_on_path(operation);
  }
}

bool is_pure(const ir::Operation& operation) {
  return !has_side_effect(operation) && !reads_memory(operation) && !writes_memory(operation) &&
         operation.opcode != Opcode::nop;
}

bool is_commutative(const ir::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::add:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::fma:
    case Opcode::mul24:
    case Opcode::mad24:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::mad_wide_add:
      return true;
    case Opcode::min:
    case Opcode::max:
      return !is_float(operation.type);
    default:
      return false;
  }
}

Type source_type_of(const ir::Operation& operation, std::size_t source) {
  switch (operation.opcode) {
    case Opcode::cvt:
    case Opcode::set:
      return source < 2 || operation.opcode == Opcode::cvt ? operation.source_type : Type::none;
    case Opcode::slct:
      return source == 2 ? operation.source_type : operation.type;
    case Opcode::mad:
    case Opcode::madc:
      return source == 2 && operation.part == MulPart::wide ? doubled(operation.type)
                                                            : operation.type;
    case Opcode::mad_wide_add:
      return source == 2 ? doubled(operation.type) : operation.type;
    case Opcode::shl:
    case Opcode::shr:
      return source == 1 ? Type::u32 : operation.type;
    case Opcode::shf:
    case Opcode::lea:
      return operation.type;
    case Opcode::selp:
      return source < 2 ? operation.type : Type::none;
    case Opcode::st:
      return source == 0 ? Type::none : operation.type;
    case Opcode::add:
    case Opcode::addc:
    case Opcode::sub:
    case Opcode::subc:
    case Opcode::mul:
    case Opcode::mul24:
    case Opcode::mad24:
    case Opcode::div:
    case Opcode::rem:
    case Opcode::abs:
    case Opcode::neg:
    case Opcode::min:
    case Opcode::max:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::cnot:
    case Opcode::lop3:
    case Opcode::fma:
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::lg2:
    case Opcode::ex2:
    case Opcode::tanh:
    case Opcode::setp:
    case Opcode::mov:
    case Opcode::iadd3:
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::brev:
      return operation.type;
    case Opcode::bfe:
      return source == 0 ? operation.type : Type::u32;
    case Opcode::bfi:
      return source < 2 ? operation.type : Type::u32;
    case Opcode::shfl:
      return source > 0 ? Type::b32 : Type::none;
    default:
      return Type::none;
  }
}

bool accepts_constant(const ir::Operation& operation, std::size_t source) {
  if (source_type_of(operation, source) == Type::none) return false;
  switch (operation.opcode) {
    case Opcode::add:
    case Opcode::mul:
    case Opcode::min:
    case Opcode::max:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::lop3:
    case Opcode::iadd3:
    case Opcode::mul24:
    case Opcode::selp:
    case Opcode::div:
    case Opcode::rem:
      return true;  // operands can be exchanged, or the expansion starts with a move anyway
    case Opcode::sub:
    case Opcode::mad:
    case Opcode::mad24:
    case Opcode::mad_wide_add:
    case Opcode::lea:
    case Opcode::fma:
      return true;
    case Opcode::shfl:
      return source == 1 || source == 2 || source == 3;
    case Opcode::setp:
    case Opcode::set:
      return source < 2;
    case Opcode::st:
      return false;  // only the zero register, see fold_constants
    default:
      return true;
  }
}

bool is_constant_operand(const ir::Operation& operation, std::size_t source) {
  const ir::Operand& operand = operation.sources[source];
  switch (operand.kind) {
    case Kind::immediate:
      if (operation.opcode == Opcode::shfl || operation.opcode == Opcode::bar ||
          operation.opcode == Opcode::bfe || operation.opcode == Opcode::bfi)
        return false;
      return operand.value != 0 && operand.type != Type::pred;
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
