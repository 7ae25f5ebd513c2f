#pragma once

#include <vector>

#include "models/isa/reader/translation/translation.hpp"

namespace lockstep::isa {

bool is_b128(const Translation& code, const syntax::Operand& operand);
/// Returns the names of the halves, low one first.
std::vector<syntax::Operand> halves(const syntax::Operand& operand);
void declare_b128(Translation& code, const syntax::Declaration& declaration);

}  // namespace lockstep::isa
