/// Execution unit and latency class of each operation.
/// Source: gpu-parameters.md, sections 4 and 5 (unit of each class on Kepler to Volta); CUDA C++
/// Programming Guide, "Arithmetic Instructions" (throughput by class).
///
/// Simplified: one class per opcode and type; what ptxas expands has its main unit's class.
#include "models/isa/encode/classes.hpp"

namespace lockstep::isa {
namespace {

ExecutionClass by_type(const ir::Operation& operation) {
  switch (operation.type) {
    case Type::f64:
      return {Category::arithmetic, Unit::fp64, LatencyClass::fp64};
    case Type::f32:
      return {Category::arithmetic, Unit::fp32, LatencyClass::fp32};
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      return {Category::arithmetic, Unit::half, LatencyClass::half};
    default:
      return {Category::arithmetic, Unit::integer, LatencyClass::integer};
  }
}

bool on_special_unit(const ir::Operation& operation) {
  switch (operation.opcode) {
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::lg2:
    case Opcode::ex2:
    case Opcode::tanh:
      return operation.type != Type::f64;
    case Opcode::popc:
    case Opcode::bfind:
    case Opcode::clz:
    case Opcode::brev:
      return true;
    default:
      return false;
  }
}

}  // namespace

ExecutionClass execution_class(const ir::Operation& operation) {
  using C = Category;
  using L = LatencyClass;
  const auto memory = [](C category) { return ExecutionClass{category, Unit::memory, L::integer}; };
  const auto control = [](C category) {
    return ExecutionClass{category, Unit::control, L::control};
  };
  if (on_special_unit(operation)) return {C::arithmetic, Unit::special, L::special};
  switch (operation.opcode) {
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::madc:
    case Opcode::mul24:
    case Opcode::mad24:
    case Opcode::mad_wide_add:
    case Opcode::dp4a:
    case Opcode::dp2a:
      if (is_float(operation.type)) return by_type(operation);
      return {C::arithmetic, Unit::integer, L::integer_multiply};
    case Opcode::setp:
    case Opcode::testp: {
      ExecutionClass result = by_type(operation);
      result.latency = result.unit == Unit::fp64 ? L::fp64 : L::predicate;
      return result;
    }
    case Opcode::mov:
    case Opcode::mov_pack:
    case Opcode::mov_unpack:
    case Opcode::cvta:
      return {C::arithmetic, Unit::integer, L::move};
    case Opcode::selp:
    case Opcode::slct:
      return {C::arithmetic, Unit::integer, L::integer};
    case Opcode::cvt:
    case Opcode::cvt_pack:
    case Opcode::cvt_fp8: {
      const bool is_integer = !is_float(operation.type) && !is_float(operation.source_type);
      if (is_integer) return {C::arithmetic, Unit::integer, L::integer};
      const bool wide = operation.type == Type::f64 || operation.source_type == Type::f64;
      return {C::arithmetic, wide ? Unit::fp64 : Unit::special, wide ? L::fp64 : L::convert};
    }
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::fill:
      return memory(C::load);
    case Opcode::st:
    case Opcode::spill:
      return memory(C::store);
    case Opcode::atom:
    case Opcode::red:
      return memory(C::atomic);
    case Opcode::prefetch:
      return memory(C::prefetch);
    case Opcode::fence:
      return memory(C::fence);
    case Opcode::shfl:
      return {C::shuffle_vote, Unit::memory, L::shuffle};
    case Opcode::vote:
    case Opcode::match:
    case Opcode::activemask:
    case Opcode::redux:
    case Opcode::elect:
      return {C::shuffle_vote, Unit::integer, L::predicate};
    case Opcode::bra:
      return control(C::branch);
    case Opcode::brx:
      return control(C::branch_indexed);
    case Opcode::call:
      return control(operation.sources[0].kind == ir::Operand::Kind::function ? C::call
                                                                              : C::call_indirect);
    case Opcode::ret:
      return control(C::ret);
    case Opcode::exit:
      return control(C::exit);
    case Opcode::trap:
      return control(C::trap);
    case Opcode::bar:
      return control(C::barrier);
    case Opcode::bar_warp:
      return control(C::warp_barrier);
    case Opcode::print:
      return control(C::print);
    case Opcode::nanosleep:
      return control(C::sleep);
    case Opcode::brkpt:
    case Opcode::pmevent:
    case Opcode::nop:
      return control(C::nop);
    default:
      return by_type(operation);
  }
}

Type source_lane_type(const ir::Operation& operation, std::size_t source) {
  const ir::Operand& operand = operation.sources[source];
  if (operand.type != Type::none && operand.kind != ir::Operand::Kind::parameter)
    return operand.type;
  const bool wide = operation.part == ir::MulPart::wide;
  switch (operation.opcode) {
    case Opcode::shl:
    case Opcode::shr:
      return source == 1 ? Type::b32 : operation.type;
    case Opcode::shf:
    case Opcode::fns:
    case Opcode::prmt:
    case Opcode::szext:
    case Opcode::bmsk:
    case Opcode::dp4a:
    case Opcode::dp2a:
    case Opcode::shfl:
    case Opcode::vote:
    case Opcode::redux:
    case Opcode::elect:
    case Opcode::bar:
    case Opcode::bar_warp:
    case Opcode::nanosleep:
    case Opcode::brx:
      return Type::b32;
    case Opcode::bfe:
      return source == 0 ? operation.type : Type::b32;
    case Opcode::bfi:
      return source < 2 ? operation.type : Type::b32;
    case Opcode::match:
      return source == 0 ? operation.type : Type::b32;
    case Opcode::mad:
      if (!wide || source < 2) return operation.type;
      return bytes_of(operation.type) == 4 ? Type::b64 : Type::b32;
    case Opcode::mad_wide_add:
      return source < 2 ? operation.type : Type::b64;
    case Opcode::cvt:
    case Opcode::cvt_pack:
    case Opcode::cvt_fp8:
    case Opcode::set:
      return operation.source_type;
    case Opcode::slct:
      return source == 2 ? operation.source_type : operation.type;
    case Opcode::mov_pack:
      return Type::b32;
    case Opcode::trap:  // of an assertion: the line, else addresses
      return source == 2 ? Type::b32 : Type::b64;
    default:
      return operation.type;
  }
}

}  // namespace lockstep::isa
