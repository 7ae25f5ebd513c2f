#pragma once

#include <vector>

#include "core/engine/engine.hpp"
#include "jobs/tables.hpp"
#include "models/gpu/machine.hpp"

namespace lockstep {

/// Returns on rank 0 the blocks that made room for more urgent grids, by GPU in the order in which
/// they had. Collective.
std::vector<PreemptedBlockRow> gather_preemptions(const Engine& engine, const Machine& machine);

}  // namespace lockstep
