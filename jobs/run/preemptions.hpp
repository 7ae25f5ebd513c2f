#pragma once

#include <vector>

#include "core/engine/engine.hpp"
#include "jobs/tables.hpp"

namespace lockstep {

/// On rank 0: the blocks that made room for more urgent grids, in the order in which they had.
/// Collective.
std::vector<PreemptedBlockRow> gather_preemptions(const Engine& engine);

}  // namespace lockstep
