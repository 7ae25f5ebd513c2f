#pragma once

#include <string>
#include <vector>

#include "core/engine/graph.hpp"

namespace lockstep {

/// Returns the measured cost of each component of this machine from the output of a run with
/// --profile; empty if `file` is "".  Throws UserError if the file has no profile, or one of
/// another machine.
std::vector<double> read_weights(const std::string& file, const Graph& graph);

}  // namespace lockstep
