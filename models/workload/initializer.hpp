#pragma once

#include <vector>

#include "core/parameters/node.hpp"
#include "models/workload/expression.hpp"

namespace lockstep {

struct Buffer;

/// Reads `init:` of a buffer and sets its initial content; a graph also sets that of the buffers
/// that it names.  Throws UserError.
void read_initializer(const Node& node, std::vector<Buffer>& buffers, Buffer& buffer,
                      const Variables& variables);

}  // namespace lockstep
