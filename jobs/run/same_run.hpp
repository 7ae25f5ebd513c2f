#pragma once

#include <string>

#include "core/exec/communicator.hpp"
#include "core/parameters/node.hpp"
#include "jobs/options.hpp"

namespace lockstep {

// Whether all ranks were started for the same thing.  One that was not would wait for ever for
// messages that nobody sends, or exit with numbers of two machines mixed.  Each of these is called
// by all ranks together; of a difference rank 0 says which and on which rank, the others stop
// without a word.

/// Checks that all ranks have the same command, before anything else. `command`: the meaning of the
/// command line.
void require_same_command(const std::string& command, Communicator& communicator);

/// Checks before the first window that all ranks have the same options, program, keys of the
/// resolved configuration, and bytes of every file that the scenario names. `document`: the
/// scenario's document with all that it includes.
void require_same_run(const CommandLine& line, const Node& document,
                      const std::string& configuration, Communicator& communicator);

}  // namespace lockstep
