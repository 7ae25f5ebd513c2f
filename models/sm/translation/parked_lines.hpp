#pragma once

#include "models/sm/access/access.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Who has lines parked for pages.
class ParkedLines {
 public:
  virtual ~ParkedLines() = default;
  /// Some lines of the access will not be sent, and none of it waits any more.
  virtual void dropped(const Access& access, SmCycle now) = 0;
  /// The line lies outside of every buffer.
  virtual void violated(const Access& access, unsigned group, SmCycle now) = 0;
};

}  // namespace lockstep
