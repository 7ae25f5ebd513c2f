/// A short recording's steps as workload.yaml has them: what people read, and what a replay does.
///
/// What a step copies stays in the recording, where `recorded:` finds it by the step's number.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/isa/program.hpp"
#include "models/workload/recording/recording.hpp"
#include "models/workload/workload.hpp"

namespace lockstep::capture {

/// The kernel that a recording calls so.
using FindKernel = std::function<const isa::Program&(const std::string& name)>;

/// A line for each step; empty for a program of more than a screen, and for one that does what
/// steps cannot say.  `buffers`: with addresses, in their order.
std::string written_steps(const Recording& recording, const std::vector<Buffer>& buffers,
                          const FindKernel& find_kernel);

/// Returns a kernel's name as its source has it.
std::string demangled(const std::string& name);

}  // namespace lockstep::capture
