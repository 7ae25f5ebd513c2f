/// Slices of GPUs (MIG): each is a GPU of its own, with SMs, partitions, walkers and TLB entries
/// that nobody else has, at the host link of the GPU that it is part of.
///
/// Source: NVIDIA's MIG user guide; nvidia-smi mig -lgip (sizes in configs/gpus/*.yaml).
///
/// Simplified: a slice has one tenant.  Copy engines are not counted: a slice has one in each
/// direction, and its share of the link when others use theirs.  Walkers are divided as memory is;
/// nothing is published about them.
#pragma once

#include "models/workload/scenario.hpp"

namespace lockstep {

/// Adds a GPU to the scenario for each tenant with `mig:` and puts the tenant there.  Throws
/// UserError for slices that are not there or do not fit, and for tenants on a GPU that is divided.
void divide_gpus(Scenario& scenario);

}  // namespace lockstep
