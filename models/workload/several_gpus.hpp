#pragma once

#include "models/workload/scenario.hpp"

namespace lockstep {

/// Reads `gpus:` of a tenant on a machine with `gpus` GPUs, and checks that its buffers and steps
/// name GPUs that it has. Throws UserError for wrong names, and for settings that a tenant on
/// several GPUs cannot have.
void check_several_gpus(Tenant& tenant, std::size_t gpus);

}  // namespace lockstep
