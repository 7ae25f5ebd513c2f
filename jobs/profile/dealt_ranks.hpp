#pragma once

#include <cstddef>
#include <vector>

#include "jobs/tables.hpp"

namespace lockstep {

/// Returns the rank of each component if so many ranks share the measured costs: whole GPUs go to
/// ranks, the costliest first, as long as there are enough of them; beyond that each GPU gets ranks
/// by its cost, which share each kind of its components.  What belongs to no GPU goes where there
/// is least to do.  The partitioner deals them out alike.
std::vector<int> dealt_to_ranks(const std::vector<ComponentCostRow>& components, int ranks);

/// Returns the number of GPUs of the machine; 0: components are not named by GPUs, since there is
/// one.
std::size_t gpus_of(const std::vector<ComponentCostRow>& components);

}  // namespace lockstep
