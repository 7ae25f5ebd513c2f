#pragma once

#include <cstdint>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Rows that may be live before the order gives way to saving rows.
struct RowLimit {
  std::uint32_t rows;
  /// true: the limit rises to the rows live in the original order plus an eighth.
  bool grows = false;
  /// true: the warps have this many rows in any case, so that saving some gains nothing.
  bool given = false;
};

/// Orders the operations of each block so that long waits begin early.
void schedule(ir::Function& function, const RowLimit& limit);

}  // namespace lockstep::isa::lowering
