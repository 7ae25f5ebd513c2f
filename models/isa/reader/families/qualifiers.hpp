/// What loads, stores, atomics and mbarriers have in common: state space, order, scope, caching,
/// vectors.
#pragma once

#include <vector>

#include "models/isa/reader/translation/translation.hpp"

namespace lockstep::isa {

Space take_space(Modifiers& modifiers);
Ordering take_ordering(Modifiers& modifiers, Ordering otherwise);
Scope take_scope(Modifiers& modifiers);
void read_qualifiers(PtxInstruction& instruction);
/// The type of an element in memory; .b128 becomes two of b64.
Type read_memory_type(PtxInstruction& instruction);
/// The registers of a vector, of a .b128 register, or the one operand.
std::vector<syntax::Operand> elements(const Translation& code, const PtxInstruction& instruction,
                                      const syntax::Operand& operand);

}  // namespace lockstep::isa
