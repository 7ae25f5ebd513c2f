#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/exec/communicator.hpp"
#include "jobs/options.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/tables.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

struct RunOutcome {
  int status = exit_done;
  std::vector<TenantRow> tenants;  ///< rows of tenants, on rank 0
};

/// Changes the scenario that was read into the one that is simulated.
using ScenarioChange = std::function<Scenario(Scenario)>;

/// Returns the identity of the run that simulate() would make of the same arguments.
Identity identity_of(const CommandLine& line, const ScenarioChange& change);

/// Simulates one scenario and writes its HDF5 file, by the command line.
RunOutcome simulate(const CommandLine& line, const ScenarioChange& change,
                    Communicator& communicator);

/// Executes an action that may fail, on all ranks.  All ranks learn whether all succeeded, so that
/// none waits for ever for a failed one.  The first failed rank reports the reason.
template <class Function>
void together(Communicator& communicator, Function&& function) {
  std::exception_ptr problem;
  try {
    function();
  } catch (...) {
    problem = std::current_exception();
  }
  std::int64_t first_to_fail[1] = {problem ? communicator.rank() : communicator.size()};
  communicator.minimum(first_to_fail);
  if (first_to_fail[0] == communicator.rank()) std::rethrow_exception(problem);
  if (first_to_fail[0] < communicator.size()) throw StoppedElsewhere();
}

}  // namespace lockstep
