/// Kernels that read a device buffer to which no step of the program before could have written: a
/// copy was forgotten.  Found before the run, from the program alone.
///
/// A buffer counts as written from the first copy, launch or variable that may write to it; what a
/// kernel may write follows from where its stores' pointers come from
/// (isa/encode/idempotence.hpp), what it reads from how its first warp begins
/// (isa/interpreter/first_accesses.hpp).  So what is said is sure, and not all is said.
///
/// Simplified: only the steps before the first one that depends on a kernel's result (`repeat:
/// until`) are looked at.
#pragma once

#include <string>
#include <vector>

#include "models/isa/program.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Returns a line for each buffer that a kernel reads before anything is written to it.
std::vector<std::string> find_unwritten_reads(const Workload& workload, const isa::Module& module);

/// Returns the text on one such read.  `where`: file, line and kernel.
std::string unwritten_read_text(const std::string& where, const std::string& buffer);

}  // namespace lockstep
