#pragma once

#include "core/parameters/policy.hpp"

namespace lockstep {

/// Key `policies.warp_scheduler`.
const PolicyList& warp_scheduler_policies();

}  // namespace lockstep
