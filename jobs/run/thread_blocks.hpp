#pragma once

#include <vector>

#include "core/engine/engine.hpp"
#include "jobs/tables.hpp"
#include "models/gpu/machine.hpp"

namespace lockstep {

/// Returns on rank 0 the times at which the blocks of all SMs came and went
/// (simulation.record_blocks), in an order that does not depend on the owners of components.
/// Collective.
std::vector<BlockRow> gather_blocks(const Engine& engine, const Machine& machine);

}  // namespace lockstep
