#pragma once

#include <string>
#include <vector>

#include "jobs/tables.hpp"

namespace lockstep {

/// Returns the kind of a component: "sm" for "sm[12]".
std::string kind_of_component(const std::string& name);

/// Returns the three largest shares of the time of all ranks and threads as text, one line each.
std::string largest_costs_text(const std::vector<ComponentCostRow>& components,
                               const std::vector<RankRow>& ranks);

}  // namespace lockstep
