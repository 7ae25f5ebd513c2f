#pragma once

#include <string>
#include <vector>

#include "core/engine/graph.hpp"

namespace lockstep {

/// Reads the cost of each component of this machine in a run with --profile from its output file;
/// empty if `file` is.  Throws UserError if the file holds no profile or one of another machine.
std::vector<double> read_weights(const std::string& file, const Graph& graph);

}  // namespace lockstep
