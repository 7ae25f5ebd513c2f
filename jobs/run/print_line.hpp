#pragma once

#include <string_view>

namespace lockstep {

/// Prints a kernel's line to standard output at once, in place of the live progress line.
void print_line(std::string_view line);

/// Prints a warning about a kernel to standard error at once, in place of the live progress line.
void print_warning(std::string_view warning);

}  // namespace lockstep
