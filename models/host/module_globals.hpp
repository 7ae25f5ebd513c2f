#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/isa/program.hpp"

namespace lockstep {

/// The initial bytes of a .global variable with its relocations applied; `addresses` are those of
/// the module's .global variables.
std::vector<std::byte> relocated_image(const isa::GlobalVariable& global,
                                       std::span<const std::uint64_t> addresses);

}  // namespace lockstep
