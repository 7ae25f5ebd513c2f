/// Slices of GPUs (MIG): each is a GPU with SMs, partitions, walkers and TLB entries of its own, at
/// the host link of the GPU that it is part of.
///
/// Source: NVIDIA's MIG user guide; nvidia-smi mig -lgip (sizes in configs/gpus/*.yaml).
///
/// Simplified: a slice has one tenant.  Copy engines are not counted: a slice has one in each
/// direction, and its share of the link when others use theirs.  Walkers are divided in proportion
/// to memory, since nothing is published about them.
#pragma once

#include "models/workload/scenario.hpp"

namespace lockstep {

/// Adds a GPU to the scenario for each tenant with `mig:` and puts the tenant there.  Throws
/// UserError for slices that do not exist or do not fit, and for tenants on a divided GPU.
void divide_gpus(Scenario& scenario);

}  // namespace lockstep
