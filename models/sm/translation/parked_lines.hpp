#pragma once

#include <cstdint>

#include "models/sm/access/access.hpp"
#include "models/sm/parameters/sm_cycle.hpp"
#include "models/vm/tlb_key.hpp"

namespace lockstep {

/// Owner of the accesses whose lines are parked for pages.
class ParkedLines {
 public:
  virtual ~ParkedLines() = default;
  /// Notes that some lines of the access will not be sent, and that none of its lines waits any
  /// longer.
  virtual void dropped(const Access& access, SmCycle now) = 0;
  /// The line's page was refused, and the line is squashed.
  virtual void squashed(const Access& access, unsigned group, SmCycle now) = 0;
  /// Lets squashed accesses ask for the page again.  Returns false if none was squashed for it.
  virtual bool come(TlbKey page, SmCycle now) = 0;
  /// Warps that have squashed lines.
  virtual std::uint64_t stopped_warps() const = 0;
  /// The line lies outside of every buffer.
  virtual void violated(const Access& access, unsigned group, SmCycle now) = 0;
};

}  // namespace lockstep
