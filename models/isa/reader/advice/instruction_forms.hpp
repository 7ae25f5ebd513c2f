/// Advice on replacements for an instruction that cannot be read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::isa {

/// Returns the form of an instruction, as "add{.sat}.type d, a, b": {optional}, `type` one of the
/// instruction's types, d where the result goes.  "" for a name that is no instruction.
std::string_view form_of(std::string_view name);

/// Returns all names that have a form.
std::vector<std::string> instruction_names();

/// Returns the reason why a modifier is not supported, with a replacement; "" if no more is known.
std::string modifier_advice(const std::string& modifier);

/// Returns "write it as ...", with the form of the instruction `name` or, after a likely slip of
/// the pen, of the nearest one; for an instruction that is not modelled, its replacement.
std::string instruction_advice(const std::string& name);

}  // namespace lockstep::isa
