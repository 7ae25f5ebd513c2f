/// The machine operations that ptxas makes of one operation, for machines that time each of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// A letter for each machine operation.
///   a  integer addition, logic, shift, selection     f  single precision
///   p  comparison whose predicate is waited for      d  double precision
///   i  integer multiply-add                          m  special function (MUFU, FCHK)
///   h  the same, upper half                          c  conversion
///   n  bits counted, found or reversed               b  branch, convergence barrier
struct Expansion {
  std::string_view chain;   ///< each waits for the one before it
  std::string_view beside;  ///< the others: they occupy units, but nothing waits for them longer

  std::size_t size() const { return chain.size() + beside.size(); }
};

/// Number of the operation's expansion, which Instruction::target holds of arithmetic; 0: not
/// known, its parts are all of its own class.
std::uint32_t expansion_number(const ir::Operation& operation);
const Expansion& expansion(std::uint32_t number);
std::uint32_t expansion_count();

}  // namespace lockstep::isa
