/// Qualifiers that loads, stores, atomics and mbarriers have in common: state space, order, scope,
/// caching, vectors.
#pragma once

#include <cstddef>
#include <vector>

#include "models/isa/l2_hint.hpp"
#include "models/isa/reader/translation/operands.hpp"

namespace lockstep::isa {

Space take_space(Modifiers& modifiers);
Ordering take_ordering(Modifiers& modifiers, Ordering otherwise);
Scope take_scope(Modifiers& modifiers);
void read_qualifiers(PtxInstruction& instruction);
/// Takes the next eviction priority among the modifiers; `otherwise` if there is none.
L2Priority take_l2_priority(Modifiers& modifiers, L2Priority otherwise);
/// Takes a policy of L2 as the last operand.  Returns its number of operands.
std::size_t take_cache_hint(Modifiers& modifiers);
/// Returns the hint of that policy, as far as the text tells it: the register's content is from
/// createpolicy or a constant.  Fails if the operand is no register of 64 bits.
std::uint16_t read_cache_hint(const PtxInstruction& instruction, const Translation& code,
                              OperandReader& operands);
/// Returns the type of an element in memory; .b128 becomes two of b64.
Type read_memory_type(PtxInstruction& instruction);
/// Returns the registers of a vector, those of a .b128 register, or the one operand.
std::vector<syntax::Operand> elements(const Translation& code, const PtxInstruction& instruction,
                                      const syntax::Operand& operand);

}  // namespace lockstep::isa
