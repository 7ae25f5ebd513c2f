#pragma once

#include "models/gpu/machine_parameters.hpp"
#include "models/isa/program.hpp"

namespace lockstep {

/// Checks that the GPUs of a tenant reach each other's memory where its steps name it, and that
/// pages whose place other GPUs know do not move.  Throws UserError.
void check_peers(const Tenant& tenant, const MachineParameters& machine);
/// Checks that the module of a tenant on several GPUs has no variables: each GPU would have its
/// own. Throws UserError.
void check_variables(const Tenant& tenant, const isa::Module& module);

}  // namespace lockstep
