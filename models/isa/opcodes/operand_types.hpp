#pragma once

#include <cstddef>

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Returns the type that a letter of OpcodeFacts::operands stands for.
Type type_of_letter(char letter, const ir::Operation& operation);

/// Returns the type of a source's value in its lanes; it decides the width of a constant.
Type source_lane_type(const ir::Operation& operation, std::size_t source);

/// Returns whether the machine's instruction can take an immediate or constant at this place.
bool accepts_constant(const ir::Operation& operation, std::size_t source);
/// Returns the type with which a constant in this operand is read; `none`: the operand takes no
/// constant.
Type constant_type(const ir::Operation& operation, std::size_t source);

}  // namespace lockstep::isa
