#pragma once

#include <cstddef>
#include <cstdint>

#include "models/isa/types.hpp"

namespace lockstep {

/// Writes `value` as one element of `type` (round to nearest even for floats; integers truncate
/// toward zero and wrap).
void store_element(isa::Type type, double value, std::byte* place);

/// Returns the 64 bits of a whole number in [-2^63, 2^64): -1 becomes all ones.
std::uint64_t integer_bits(double value);

/// Returns whether an element of the type can hold `value`: an integer with or without sign (-1
/// stands for all ones in an unsigned buffer), a float without becoming infinite.
bool fits(isa::Type type, double value);

/// Reads one element.
double load_element(isa::Type type, const std::byte* place);

}  // namespace lockstep
