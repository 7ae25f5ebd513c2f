#pragma once

#include <string>

namespace lockstep::isa {

/// Returns the name by which people know a kernel: "add<float>(float*, int)" of a C++ name, other
/// names as they are.
std::string kernel_title(const std::string& name);

}  // namespace lockstep::isa
