/// The steps of a short recording as text of workload.yaml: for people to read, and for a replay to
/// execute.
///
/// Copied data stay in the recording, where `recorded:` finds them by the step's number.
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

/// Returns a line for each step; empty for a program longer than a screen, and for one that steps
/// cannot express.  `buffers`: with addresses, in their order.
std::string written_steps(const Recording& recording, const std::vector<Buffer>& buffers,
                          const FindKernel& find_kernel);

/// Returns a kernel's name as in its source.
std::string demangled(const std::string& name);

}  // namespace lockstep::capture
