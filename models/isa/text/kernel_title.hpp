#pragma once

#include <string>

namespace lockstep::isa {

/// Returns a kernel's readable name: "add<float>(float*, int)" for a C++ name, other names
/// unchanged.
std::string kernel_title(const std::string& name);

}  // namespace lockstep::isa
