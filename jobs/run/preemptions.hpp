#pragma once

#include <vector>

#include "core/engine/engine.hpp"
#include "jobs/tables.hpp"
#include "models/gpu/machine.hpp"

namespace lockstep {

/// Returns on rank 0 the blocks that made room for more urgent grids, by GPU and in the order of
/// their leaving. Collective.
std::vector<PreemptedBlockRow> gather_preemptions(const Engine& engine, const Machine& machine);

}  // namespace lockstep
