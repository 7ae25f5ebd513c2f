#pragma once

#include <cstddef>

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Returns the type that a letter of OpcodeFacts::operands stands for.
Type type_of_letter(char letter, const ir::Operation& operation);

/// Returns the type in which a source's value stands in its lanes; it decides the width of a
/// constant.
Type source_lane_type(const ir::Operation& operation, std::size_t source);

/// Returns whether the machine's instruction can take an immediate or constant at this place.
bool accepts_constant(const ir::Operation& operation, std::size_t source);
/// Returns the type as which a constant at this place is read; `none`: no constant is put there.
Type constant_type(const ir::Operation& operation, std::size_t source);

}  // namespace lockstep::isa
