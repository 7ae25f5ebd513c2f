#pragma once

#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/output/recorder.hpp"
#include "core/output/run_output.hpp"
#include "jobs/tables.hpp"

namespace lockstep {

/// Records of --profile on all ranks, and tables derived from them.
struct RunProfile {
  std::vector<ComponentCostRow> components;
  std::vector<WindowCostRow> windows;  ///< windows of rank 0
  std::vector<WindowTimesRow> times;   ///< times of all ranks
  std::vector<RankRow> ranks;          ///< use of time on each rank
  std::vector<SpeedupRow> speedups;
};

/// Returns the profile on rank 0. `summary`: time that this rank spent; `flushes`: what of it went
/// to the file. Collective.
RunProfile gather_profile(const Engine& engine, const Graph& graph, const RunSummary& summary,
                          const FlushTimes& flushes);

/// Returns the largest costs and the predicted speed-ups, for people.
std::string profile_report(const RunProfile& profile);

/// Writes /run/profile: costs by component, window and rank, predictions.
void write_profile(RunOutput& file, const RunProfile& profile);

}  // namespace lockstep
