#pragma once

#include <string>
#include <vector>

#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/front_end/warp_states.hpp"

namespace lockstep {

/// Returns, for reports, where the warps of resident blocks stand, by PTX line, what they wait for,
/// and what those that go round in a loop poll.  A line for each of the first blocks; "" if there
/// are none.
std::string standing_blocks(const ResidentBlocks& blocks, const WarpStates& states,
                            const std::vector<std::string>& tenants);

}  // namespace lockstep
