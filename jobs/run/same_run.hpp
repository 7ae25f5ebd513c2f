#pragma once

#include <string>

#include "core/exec/communicator.hpp"
#include "core/parameters/node.hpp"
#include "jobs/options.hpp"

namespace lockstep {

// Checks that all ranks were started for the same run.  A rank with another run would wait for ever
// for messages, or exit with numbers of two machines mixed.  All ranks call each function together;
// on a difference rank 0 names it and the rank, and the others stop silently.

/// Checks that all ranks have the same command, before anything else. `command`: the meaning of the
/// command line.
void require_same_command(const std::string& command, Communicator& communicator);

/// Checks before the first window that all ranks have the same options, program, keys of the
/// resolved configuration, and bytes of every file that the scenario names. `document`: the
/// scenario's document with all included files.
void require_same_run(const CommandLine& line, const Node& document, const Node& configuration,
                      Communicator& communicator);

}  // namespace lockstep
