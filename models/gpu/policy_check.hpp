#pragma once

#include <string>

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// Refuses policies that do not go together: a TLB that a fault blocks with a scheme that squashes
/// what faults; faults that the GPU handles by itself need a scheme
/// that takes the faulting warp off the pipeline, pages of 4 KiB, and a pool that memory holds;
/// taking SMs from tenants that own theirs.  Throws UserError.
void check_policies(const Scenario& scenario, const MachineParameters& parameters);

/// Returns a line with a fact about the tenants' `sms:` that a user may not know; "" if there is
/// none.
std::string note_of_shares(const Scenario& scenario, const MachineParameters& machine);

/// Returns the parameters; a machine that only sums resources gets the places for blocks that its
/// policies need.
MachineParameters with_places(MachineParameters parameters);

/// Returns whether blocks may leave SMs with their contexts.
bool saves_blocks(const PolicyParameters& policies);
/// Returns whether tenants may lose SMs to more urgent ones.
bool preempts(const PolicyParameters& policies);

}  // namespace lockstep
