/// Words of matrix instructions; each function removes its words from an instruction's modifiers.
#pragma once

#include "models/isa/matrix/form.hpp"
#include "models/isa/reader/translation/ptx_instruction.hpp"

namespace lockstep::isa::matrix_names {

/// Takes a shape such as "m16n8k16"; fails where there is none.
void take_shape(PtxInstruction& instruction, MatrixForm& form);
/// Takes the next .row or .col.  Returns whether it was .col.
bool take_layout(PtxInstruction& instruction);
Rounding take_rounding(Modifiers& modifiers);
MatrixOperation take_operation(Modifiers& modifiers);
/// Takes the next type, which must be one of results or of elements.
MatrixResult take_result(PtxInstruction& instruction);
MatrixElement take_element(PtxInstruction& instruction);
/// Returns how many types are left.
std::size_t count_types(const Modifiers& modifiers);

}  // namespace lockstep::isa::matrix_names
