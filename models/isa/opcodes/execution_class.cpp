/// Execution unit and latency class of each operation.
/// Source: gpu-parameters.md, sections 4 and 5 (unit of each class on Kepler to Volta); CUDA C++
/// Programming Guide, "Arithmetic Instructions" (throughput by class).
///
/// Simplified: one class per opcode and type; what ptxas expands has its main unit's class.
#include "models/isa/opcodes/execution_class.hpp"

#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa {
namespace {

struct Place {
  Unit unit;
  LatencyClass latency;
};

Place by_type(Type type) {
  switch (type) {
    case Type::f64:
      return {Unit::fp64, LatencyClass::fp64};
    case Type::f32:
      return {Unit::fp32, LatencyClass::fp32};
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      return {Unit::half, LatencyClass::half};
    default:
      return {Unit::integer, LatencyClass::integer};
  }
}

Place of_comparison(Type type) {
  Place place = by_type(type);
  if (place.unit != Unit::fp64) place.latency = LatencyClass::predicate;
  return place;
}

Place of_conversion(const ir::Operation& operation) {
  if (!is_float(operation.type) && !is_float(operation.source_type))
    return {Unit::integer, LatencyClass::integer};
  const bool wide = operation.type == Type::f64 || operation.source_type == Type::f64;
  return wide ? Place{Unit::fp64, LatencyClass::fp64} : Place{Unit::special, LatencyClass::convert};
}

Place place_of(const ir::Operation& operation) {
  constexpr Place special{Unit::special, LatencyClass::special};
  switch (facts_of(operation.opcode).pipe) {
    case Pipe::integer:
      return {Unit::integer, LatencyClass::integer};
    case Pipe::multiply:
      return is_float(operation.type) ? by_type(operation.type)
                                      : Place{Unit::integer, LatencyClass::integer_multiply};
    case Pipe::special:
      return special;
    case Pipe::special_function:
      return operation.type == Type::f64 ? by_type(operation.type) : special;
    case Pipe::comparison:
      return of_comparison(operation.type);
    case Pipe::move:
      return {Unit::integer, LatencyClass::move};
    case Pipe::conversion:
      return of_conversion(operation);
    case Pipe::memory:
      return {Unit::memory, LatencyClass::integer};
    case Pipe::shuffle:
      return {Unit::memory, LatencyClass::shuffle};
    case Pipe::vote:
      return {Unit::integer, LatencyClass::predicate};
    case Pipe::control:
      return {Unit::control, LatencyClass::control};
    default:
      return by_type(operation.type);
  }
}

}  // namespace

ExecutionClass execution_class(const ir::Operation& operation) {
  const Place place = place_of(operation);
  Category category = category_of(operation.opcode);
  if (category == Category::call && operation.sources[0].kind != ir::Operand::Kind::function)
    category = Category::call_indirect;
  return {category, place.unit, place.latency};
}

}  // namespace lockstep::isa
