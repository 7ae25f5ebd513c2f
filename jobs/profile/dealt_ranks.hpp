#pragma once

#include <cstddef>
#include <vector>

#include "jobs/tables.hpp"

namespace lockstep {

/// Returns the rank of each component if `ranks` ranks share the measured costs.  Whole GPUs go to
/// ranks, the costliest first, as long as there are enough of them; with more ranks each GPU gets
/// ranks by its cost, which share each kind of its components.  Components that belong to no GPU go
/// to the rank with the least load.  The partitioner uses the same rule.
std::vector<int> dealt_to_ranks(const std::vector<ComponentCostRow>& components, int ranks);

/// Returns the number of GPUs of the machine; 0: components are not named by GPUs, since there is
/// one.
std::size_t gpus_of(const std::vector<ComponentCostRow>& components);

}  // namespace lockstep
