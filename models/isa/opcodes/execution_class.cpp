/// Execution unit and latency class of each operation.
/// Source: gpu-parameters.md, sections 4 and 5 (unit of each class on Kepler to Volta); CUDA C++
/// Programming Guide, "Arithmetic Instructions" (throughput by class).
///
/// Simplified: there is one class per opcode and type; an operation that ptxas expands has the
/// class of its main unit.
#include "models/isa/opcodes/execution_class.hpp"

#include "models/isa/matrix/plan.hpp"
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

/// Returns whether the form is one F2FP (ptxas 13.0), which is no special function: such forms came
/// with Ampere, for pairs of halves from f32 and all 8-bit floats.
bool packs(const ir::Operation& operation) {
  return operation.opcode == Opcode::cvt_fp8 || operation.type == Type::f16x2 ||
         operation.type == Type::bf16x2;
}
Place of_conversion(const ir::Operation& operation) {
  if (packs(operation)) return {Unit::integer, LatencyClass::pack};
  if (!is_float(operation.type) && !is_float(operation.source_type))
    return {Unit::integer, LatencyClass::integer};
  const bool wide = operation.type == Type::f64 || operation.source_type == Type::f64;
  return wide ? Place{Unit::fp64, LatencyClass::fp64} : Place{Unit::special, LatencyClass::convert};
}

/// Returns the class of a form, which is that of its shape; a wmma has steps of an mma, except on
/// Volta.
LatencyClass class_of(const MatrixForm& form) {
  using enum MatrixElement;
  using C = LatencyClass;
  const bool flat = form.m == 8 && form.n == 8;
  switch (form.a) {
    case f64:
      return flat          ? C::mma_f64_m8
             : form.k == 4 ? C::mma_f64_k4
             : form.k == 8 ? C::mma_f64_k8
                           : C::mma_f64_k16;
    case tf32:
      return form.wmma || form.k == 4 ? C::mma_tf32_k4 : C::mma_tf32_k8;
    case s8:
    case u8:
      return flat ? C::mma_s8_m8 : form.k == 16 ? C::mma_s8_k16 : C::mma_s8_k32;
    case s4:
    case u4:
      return flat ? C::mma_s4_m8 : form.k == 32 ? C::mma_s4_k32 : C::mma_s4_k64;
    case b1:
      return flat ? C::mma_b1_m8 : form.k == 128 ? C::mma_b1_k128 : C::mma_b1_k256;
    case e4m3:
    case e5m2:
      return form.k == 16 ? C::mma_fp8_k16 : C::mma_fp8_k32;
    default:
      break;
  }
  if (flat) return C::mma_f16_volta;
  if (form.wmma && form.arithmetic == MatrixArithmetic::volta) return C::wmma_f16_volta;
  return form.k == 8 ? C::mma_f16_k8 : C::mma_f16_k16;
}
/// m8n8k4 of f16 after Turing is multiplications and additions of f32.
Place of_product(const ir::Operation& operation) {
  const MatrixForm form = unpack_form(operation.immediate);
  if (is_quad_pairs(form) && plan_of(form).kind == MatrixPlan::Kind::scalar)
    return by_type(Type::f32);
  return {Unit::tensor, class_of(form)};
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
    case Pipe::tensor:
      if (operation.opcode == Opcode::wgmma) return {Unit::tensor, LatencyClass::control};
      return of_product(operation);
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
