#pragma once

#include "core/parameters/policy.hpp"

namespace lockstep {

/// Returns the key `policies.warp_scheduler`.
const PolicyList& warp_scheduler_policies();

}  // namespace lockstep
