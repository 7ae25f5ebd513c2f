#pragma once

#include "models/isa/program.hpp"
#include "models/workload/kernel_arguments.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Sets the clusters of a launch whose grid is known: those of the launch, or else those of the
/// kernel.  Throws UserError at the launch's `cluster`, or at the step, when the two contradict
/// each other, when a cluster is too large, and when clusters do not fill the grid.
void set_cluster(const isa::Program& kernel, const Step& launch, const Variables& variables,
                 LaunchShape& shape);

}  // namespace lockstep
