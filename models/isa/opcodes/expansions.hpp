/// Machine operations that ptxas makes of one operation, for machines that time each of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// A letter for each machine operation.
///   a  integer addition, logic, shift, selection, comparison whose predicate a selection reads
///   p  comparison whose predicate guards             f  single precision
///   i  integer multiply-add                          d  double precision
///   w  the same with a result of 64 bits             x  half precision
///   h  upper half of such a result                   m  special function (MUFU)
///   n  bits counted, found or reversed               c  conversion
///   b  branch, convergence barrier                   q  look at a division's operands (FCHK)
///   t  branch that is taken
struct Expansion {
  std::string_view chain;  ///< operations of which each waits for the one before
  /// Operations besides the chain: they occupy units, and nothing waits longer for them.
  std::string_view beside;

  std::size_t size() const { return chain.size() + beside.size(); }
  /// Returns whether normal operands take a path of their own; the warp's next instruction waits
  /// for the end of it.
  bool branches() const { return chain.ends_with('b'); }
};

/// Returns the number of the operation's expansion, which arithmetic instructions keep in
/// Instruction::target; 0: unknown, all its parts have its own class.
std::uint32_t expansion_number(const ir::Operation& operation);
const Expansion& expansion(std::uint32_t number);
std::uint32_t expansion_count();

}  // namespace lockstep::isa
