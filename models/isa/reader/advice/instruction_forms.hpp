/// Advice on what to write in place of an instruction that cannot be read.
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

/// Returns why a modifier is not supported, and what to write instead; "" if no more is known.
std::string modifier_advice(const std::string& modifier);

/// Returns "write it as ...", with the form of the instruction `name` or, if that is a slip of the
/// pen, of the nearest; for an instruction that is not modelled, what does its work.
std::string instruction_advice(const std::string& name);

}  // namespace lockstep::isa
