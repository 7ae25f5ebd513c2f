#pragma once

#include "models/noc/messages.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Fetcher of instructions or constants that gets the answers to its requests.
class FetchAnswers {
 public:
  virtual ~FetchAnswers() = default;
  /// Handles an answer.  Its instructions or constants can be used from `usable` on.
  virtual void answered(const MemoryResponse& response, SmCycle usable, SmCycle now) = 0;
};

}  // namespace lockstep
