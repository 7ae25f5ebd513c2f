#pragma once

#include "core/parameters/policy.hpp"

namespace lockstep {

/// Plug point `fault_handling`.  `host`: the driver on the CPU (managed_memory.hpp), with
/// HostFaultParameters.
const PolicyList& fault_handling_policies();

}  // namespace lockstep
