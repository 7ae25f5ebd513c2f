#pragma once

#include <vector>

#include "models/workload/workload.hpp"

namespace lockstep {

/// Reads a list of host steps; names must be buffers of `workload`, expressions are tried with its
/// parameters as far as counters allow.
std::vector<Step> read_steps(const Node& list, const Workload& workload);

}  // namespace lockstep
