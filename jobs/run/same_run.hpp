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

/// Before anything else: `command` is what the command line was understood as.
void require_same_command(const std::string& command, Communicator& communicator);

/// Before the first window: options, the program itself, every key of the resolved configuration,
/// and the bytes of every file that the scenario names.  `document`: what the scenario was read
/// from, with all that it includes.
void require_same_run(const CommandLine& line, const Node& document,
                      const std::string& configuration, Communicator& communicator);

}  // namespace lockstep
