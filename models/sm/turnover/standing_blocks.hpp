#pragma once

#include <string>
#include <vector>

#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/front_end/warp_states.hpp"

namespace lockstep {

/// Returns, for reports, the PTX lines at which the warps of resident blocks stand, the causes of
/// their waits, and the addresses that warps in loops poll.  One line for each of the first blocks;
/// "" if there are none.
std::string standing_blocks(const ResidentBlocks& blocks, const WarpStates& states,
                            const std::vector<std::string>& tenants);

}  // namespace lockstep
