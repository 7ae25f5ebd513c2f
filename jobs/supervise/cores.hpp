#pragma once

#include <string>

#include "core/exec/communicator.hpp"

namespace lockstep {

/// Returns the number of worker threads that was asked for; with CommandLine::threads_auto as many
/// as each rank has cores of its own: by affinity, the control group's quota, what Slurm lends the
/// job on this computer, and its --cpus-per-task.  The same on all ranks.  Collective.
int threads_of(int asked, Communicator& communicator);

/// Returns on rank 0 a line if every task of a Slurm step runs all of it, since MPI was not told of
/// the others; "" if not.
std::string note_of_tasks(const Communicator& communicator);

/// Returns on rank 0 a line if the ranks of a computer have more threads than it lends them cores;
/// "" if not. Workers wait for each other in every window, so that each must have a core.
/// Collective.
std::string note_of_cores(int threads, Communicator& communicator);

}  // namespace lockstep
