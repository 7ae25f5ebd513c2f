#pragma once

#include <cstddef>

#include "models/isa/types.hpp"

namespace lockstep {

/// Writes `value` as one element of `type` (round to nearest even for floats; integers truncate
/// toward zero and wrap).
void store_element(isa::Type type, double value, std::byte* place);

/// Reads one element.
double load_element(isa::Type type, const std::byte* place);

}  // namespace lockstep
