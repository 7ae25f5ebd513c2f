/// Costs that --profile recorded in one run or in several of the same scenario.
///
/// Windows depend on the scenario alone, so they are equal in each run: the time of a component's
/// step above its least time is due to other programs (caches, memory, cores) and no cost of the
/// component.
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

/// Returns the costs of each file.  Throws UserError if one belongs to another scenario than the
/// first.
std::vector<MeasuredCosts> read_costs(const std::vector<std::string>& files);

/// Returns the least cost of each window and component.  In runs that did not record a long step,
/// it was no longer than other steps, which the sample of windows covers.
MeasuredCosts least_of(const std::vector<MeasuredCosts>& runs);

/// Returns the windows dealt out in turn, so that each part is a sample of all of them; fewer parts
/// if there are fewer windows.
std::vector<std::vector<WindowCostRow>> parts_of(const std::vector<WindowCostRow>& windows,
                                                 std::size_t parts);

}  // namespace lockstep
