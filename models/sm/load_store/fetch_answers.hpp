#pragma once

#include "models/noc/messages.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Who brings instructions or constants, and hears of the answers to its requests.
class FetchAnswers {
 public:
  virtual ~FetchAnswers() = default;
  /// What the answer brings can be used from `usable` on.
  virtual void answered(const MemoryResponse& response, SmCycle usable, SmCycle now) = 0;
};

}  // namespace lockstep
