#pragma once

#include <cstddef>
#include <vector>

#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// What leaves the SM with a block.
struct BlockContext {
  std::vector<std::byte> bytes;
  ContextParts parts;
};

}  // namespace lockstep
