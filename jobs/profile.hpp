#pragma once

#include <string>

#include "core/engine/engine.hpp"
#include "core/output/run_output.hpp"

namespace lockstep {

/// Predicted speed-up over one worker: the measured cost of every component in every window, dealt
/// out longest first to the worker with the least, plus a cost per synchronisation.
struct SpeedupPrediction {
  int workers = 0;
  double speedup = 0;
};
std::vector<SpeedupPrediction> predict_speedup(const Profile& profile);

/// The most expensive components and the predicted speed-ups, for people.
std::string profile_report(const Graph& graph, const Profile& profile);

/// /run/profile: cost by component, predictions.
void write_profile(RunOutput& file, const Graph& graph, const Profile& profile);

}  // namespace lockstep
