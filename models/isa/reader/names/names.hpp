#pragma once

#include <optional>
#include <string_view>

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Returns the type that a modifier or declaration names; Type::none for others.
Type type_named(std::string_view name);

/// Returns the special register with a name such as "%tid.x".
std::optional<ir::SpecialRegister> special_register_named(std::string_view name);
/// Returns the width of a special register.
Type type_of(ir::SpecialRegister special);

}  // namespace lockstep::isa
