#pragma once

#include <string>

#include "core/engine/engine.hpp"
#include "core/exec/communicator.hpp"
#include "core/output/run_output.hpp"

namespace lockstep {

/// Predicted speed-up over one worker: the measured cost of every component in every window, dealt
/// out longest first to the worker with the least, plus a cost per synchronisation.
struct SpeedupPrediction {
  int workers = 0;
  double speedup = 0;
};
std::vector<SpeedupPrediction> predict_speedup(const Profile& profile);

/// On rank 0: the profile with the costs of every rank's components.  Collective.
Profile gather_profile(const Profile& mine, Communicator& communicator);

/// The most expensive components and the predicted speed-ups, for people.
std::string profile_report(const Graph& graph, const Profile& profile);

/// /run/profile: costs by component and by window, predictions.
void write_profile(RunOutput& file, const Graph& graph, const Profile& profile);

}  // namespace lockstep
