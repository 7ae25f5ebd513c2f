/// Qualifiers that loads, stores, atomics and mbarriers have in common: state space, order, scope,
/// caching, vectors.
#pragma once

#include <cstddef>
#include <vector>

#include "models/isa/reader/translation/operands.hpp"

namespace lockstep::isa {

Space take_space(Modifiers& modifiers);
Ordering take_ordering(Modifiers& modifiers, Ordering otherwise);
Scope take_scope(Modifiers& modifiers);
void read_qualifiers(PtxInstruction& instruction);
/// A policy of L2 as the last operand: read, and without effect.  Returns how many operands it is.
std::size_t take_cache_hint(Modifiers& modifiers);
/// Fails if that operand is no register of 64 bits.
void check_cache_hint(const PtxInstruction& instruction, OperandReader& operands);
/// The type of an element in memory; .b128 becomes two of b64.
Type read_memory_type(PtxInstruction& instruction);
/// The registers of a vector, of a .b128 register, or the one operand.
std::vector<syntax::Operand> elements(const Translation& code, const PtxInstruction& instruction,
                                      const syntax::Operand& operand);

}  // namespace lockstep::isa
