#pragma once

#include "models/noc/messages.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Fetcher of instructions or constants, which hears of the answers to its requests.
class FetchAnswers {
 public:
  virtual ~FetchAnswers() = default;
  /// An answer has come.  Its instructions or constants can be used from `usable` on.
  virtual void answered(const MemoryResponse& response, SmCycle usable, SmCycle now) = 0;
};

}  // namespace lockstep
