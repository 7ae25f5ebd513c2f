#pragma once

#include <cstdint>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Orders the operations of each block so that long waits begin early.  `limit`: rows that may be
/// live before the order gives way to saving rows.
void schedule(ir::Function& function, std::uint32_t limit);

}  // namespace lockstep::isa::lowering
