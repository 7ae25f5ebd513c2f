/// Integer arithmetic on immediates, as the machine would compute it.
#pragma once

#include <cstdint>
#include <optional>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Returns the value's low bits as this type extends them to 64.
std::int64_t as_type(std::int64_t value, Type type);

/// Returns the result of an operation with immediate sources; nothing for operations other than the
/// integer ones known here.
std::optional<std::int64_t> evaluate(const ir::Operation& operation);

}  // namespace lockstep::isa::lowering
