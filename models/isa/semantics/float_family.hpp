/// Operations common to f32 and f64: one selection, over a structure with the operations of each
/// format.
#pragma once

#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

/// Returns the function of fma with the signs that lowering folds in: mode bit 0 negates the
/// product, bit 1 the addend.
template <class Format>
Execute select_fma(const SemanticKey& key) {
  switch (key.mode & 3) {
    case 1:
      return Format::template rounded<typename Format::template SignedFma<1>, 3>(key);
    case 2:
      return Format::template rounded<typename Format::template SignedFma<2>, 3>(key);
    case 3:
      return Format::template rounded<typename Format::template SignedFma<3>, 3>(key);
    default:
      return Format::template rounded<typename Format::Fma, 3>(key);
  }
}

/// Selects an operation.  `Format` has the operations Add ... Sqrt, `rounded`, which binds one in
/// the key's rounding mode, and minimum, maximum, abs, neg, copysign.
template <class Format>
Execute select_float(const SemanticKey& key) {
  switch (key.opcode) {
    case Opcode::add:
      return Format::template rounded<typename Format::Add, 2>(key);
    case Opcode::sub:
      return Format::template rounded<typename Format::Sub, 2>(key);
    case Opcode::mul:
      return (key.mode & 1) != 0 ? Format::template rounded<typename Format::NegatedMul, 2>(key)
                                 : Format::template rounded<typename Format::Mul, 2>(key);
    case Opcode::fma:
    case Opcode::mad:
      return select_fma<Format>(key);
    case Opcode::div:
      return Format::template rounded<typename Format::Div, 2>(key);
    case Opcode::rcp:
      return Format::template rounded<typename Format::Rcp, 1>(key);
    case Opcode::sqrt:
      return Format::template rounded<typename Format::Sqrt, 1>(key);
    case Opcode::min:
      return Format::minimum(key);
    case Opcode::max:
      return Format::maximum(key);
    case Opcode::abs:
      return Format::abs(key);
    case Opcode::neg:
      return Format::neg(key);
    case Opcode::copysign:
      return Format::copysign(key);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
