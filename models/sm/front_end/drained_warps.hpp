#pragma once

#include <cstdint>

#include "models/noc/ids.hpp"

namespace lockstep {

/// Who takes a warp's slot back.
class DrainedWarps {
 public:
  virtual ~DrainedWarps() = default;
  /// All threads of the warp have ended, and all its requests are answered.
  virtual void drained(WarpSlot warp, std::int64_t now) = 0;
};

}  // namespace lockstep
