#pragma once

#include <vector>

#include "core/engine/engine.hpp"
#include "jobs/profile/profile.hpp"
#include "jobs/run/check.hpp"
#include "jobs/run/output.hpp"
#include "jobs/run/preemptions.hpp"
#include "jobs/run/run.hpp"
#include "jobs/run/run_cost.hpp"
#include "jobs/run/thread_blocks.hpp"

namespace lockstep {

class Host;

/// Knowledge of all ranks, on rank 0 after the run.
struct Gathered {
  RunProfile profile;
  std::vector<BlockRow> blocks;
  std::vector<PreemptedBlockRow> preemptions;
};

/// A run that is over, or was ended by a signal.
struct Ended {
  const CommandLine& line;
  const Scenario& scenario;
  const Node& configuration;  ///< configuration as in /config
  const Machine& machine;
  const Engine& engine;
  const Gathered& gathered;
  Time end;  ///< time up to which the run was simulated
  RunCost cost;
};

Host& find_host(const Engine& engine, const Machine& machine);

/// Writes tables, final values and the result for readers, on rank 0 after the run. `check`: the
/// findings, if the run is checked.
RunOutcome finish(const Ended& run, const CheckResult& check, Output& output);

/// Writes the tables so far, on rank 0 after a signal. There is no /final/end, since the run has
/// not ended, and no check. `status`: exit status of the process.
void leave(const Ended& run, int status, Output& output);

}  // namespace lockstep
