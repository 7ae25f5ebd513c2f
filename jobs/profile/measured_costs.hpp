/// Costs that --profile recorded in one run or in several of the same scenario.
///
/// Windows follow from the scenario alone, so they are the same in each run: what one step of a
/// component took above its least is other programs' doing (caches, memory, cores), not its cost.
/// Source: own choice.
#pragma once

#include <string>
#include <vector>

#include "jobs/tables.hpp"

namespace lockstep {

struct MeasuredCosts {
  std::vector<ComponentCostRow> components;
  std::vector<WindowCostRow> windows;
  std::vector<RankRow> ranks;  ///< a single rank

  /// Reads the costs of an output file.
  static MeasuredCosts read(const std::string& file);
};

/// Each file's; UserError if one is of another scenario than the first.
std::vector<MeasuredCosts> read_costs(const std::vector<std::string>& files);

/// Returns the least cost of each window and component.  A long step that only some runs recorded
/// was no longer than others in the rest, which the sample of windows stands for.
MeasuredCosts least_of(const std::vector<MeasuredCosts>& runs);

/// The windows dealt out in turn, so that each part is a sample of all of them; fewer parts if
/// there are fewer windows.
std::vector<std::vector<WindowCostRow>> parts_of(const std::vector<WindowCostRow>& windows,
                                                 std::size_t parts);

}  // namespace lockstep
