#pragma once

#include <string>

#include "models/workload/workload.hpp"

namespace lockstep::sample {

/// Four buffers of 16 elements, one of them of each memory and a twin of `a`; the program starts in
/// line 9, column 3.
std::string workload_text(const std::string& program);
Workload read(const std::string& text, const std::string& overrides = "");
Workload with_program(const std::string& program);
std::string error_of(const std::string& text, const std::string& overrides = "");
std::string program_error(const std::string& program);

}  // namespace lockstep::sample
