#pragma once

#include <string>

#include "core/exec/communicator.hpp"

namespace lockstep {

/// On rank 0: a line if the ranks of a computer have more threads than it lends them cores; "" if
/// not.  Workers wait for each other in every window, so that each must have a core.  Collective.
std::string note_of_cores(int threads, Communicator& communicator);

}  // namespace lockstep
