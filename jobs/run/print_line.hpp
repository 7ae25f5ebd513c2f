#pragma once

#include <string_view>

namespace lockstep {

/// A line that a kernel prints: to standard output at once, in place of the live progress line.
void print_line(std::string_view line);

/// A warning about a kernel: to standard error at once, in place of the live progress line.
void print_warning(std::string_view warning);

}  // namespace lockstep
