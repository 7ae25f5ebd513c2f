#pragma once

#include "models/isa/types.hpp"

namespace lockstep::isa {

/// Returns whether the comparison is true where an operand is NaN, as the unordered ones (equ, ...)
/// are.
constexpr bool holds_for_nan(Comparison comparison) {
  using enum Comparison;
  return (comparison >= equ && comparison <= geu) || comparison == Comparison::nan;
}

/// Returns the comparison that is true where this one is false; none: there is no such comparison.
constexpr Comparison inverse(Comparison comparison, bool is_floating) {
  using enum Comparison;
  switch (comparison) {
    case eq:
      return is_floating ? neu : ne;
    case ne:
      return is_floating ? equ : eq;
    case lt:
      return is_floating ? geu : ge;
    case le:
      return is_floating ? gtu : gt;
    case gt:
      return is_floating ? leu : le;
    case ge:
      return is_floating ? ltu : lt;
    case lo:
      return hs;
    case ls:
      return hi;
    case hi:
      return ls;
    case hs:
      return lo;
    case equ:
      return ne;
    case neu:
      return eq;
    case ltu:
      return ge;
    case leu:
      return gt;
    case gtu:
      return le;
    case geu:
      return lt;
    case num:
      return Comparison::nan;
    case Comparison::nan:
      return num;
    default:
      return none;
  }
}

}  // namespace lockstep::isa
