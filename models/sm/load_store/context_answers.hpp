#pragma once

#include <cstddef>

#include "models/noc/messages.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Mover of block contexts that gets the answers to its requests.
class ContextAnswers {
 public:
  virtual ~ContextAnswers() = default;
  /// Handles the answer for a line that has been stored or loaded; loaded data can be used from
  /// `usable` on.
  virtual void answered(const MemoryResponse& response, const std::byte* payload, SmCycle usable,
                        SmCycle now) = 0;
};

}  // namespace lockstep
