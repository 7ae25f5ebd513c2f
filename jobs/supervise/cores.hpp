#pragma once

#include <string>

#include "core/exec/communicator.hpp"

namespace lockstep {

/// Returns the requested number of worker threads.  With CommandLine::threads_auto it is the number
/// of cores that each rank has to itself: by affinity, by the control group's quota, by the cores
/// that Slurm lends the job on this computer, and by --cpus-per-task.  The number is equal on all
/// ranks.  Collective.
int threads_of(int asked, Communicator& communicator);

/// Returns on rank 0 a line if every task of a Slurm step runs the whole simulation, because MPI
/// does not know of the others; otherwise "".
std::string note_of_tasks(const Communicator& communicator);

/// Returns on rank 0 a line if the ranks of a computer have more threads than cores; otherwise "".
/// Workers wait for each other in every window, so that each needs a core. Collective.
std::string note_of_cores(int threads, Communicator& communicator);

}  // namespace lockstep
