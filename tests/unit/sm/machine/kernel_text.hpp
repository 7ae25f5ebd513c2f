#pragma once

#include <string>

#include "models/isa/load.hpp"

namespace lockstep {

/// A module with one kernel `k(out, in, n)`; registers %r0-99, %rd0-99, %f0-99, %fd0-99, %p0-9 are
/// declared, out and in stand in %rd0 and %rd1, n in %r0.  Only registers are allocated: what is
/// written is what issues.  `variables` stand outside of the kernel; `matrices` are multiplied as
/// this generation does.
isa::Module kernel_of(const std::string& body, const std::string& declarations = "",
                      const std::string& variables = "",
                      isa::MatrixArithmetic matrices = isa::MatrixArithmetic::ampere);
/// The same with preemption points.
isa::Module kernel_with_points(const std::string& body, const std::string& declarations = "");

/// `text` n times.
std::string times(unsigned n, const std::string& text);

}  // namespace lockstep
