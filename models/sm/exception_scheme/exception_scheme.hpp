/// What the pipeline does around an instruction that may fault.
///
/// The schemes of 000 differ in two moments of a memory instruction: until when its source
/// registers are kept from being overwritten, and from when on its warp may issue the next
/// instruction.  Both are data, so that issue and commit stay free of calls. Source: 000,
/// sections 2.1 and 3.
///
/// Simplified: there are no page faults yet; an access outside of what is mapped ends the run.
#pragma once

#include <cstdint>

#include "core/parameters/policy.hpp"

namespace lockstep {

struct ExceptionScheme {
  enum class Moment : std::uint8_t { issue, last_check, commit };

  Moment sources_released = Moment::issue;  ///< of a memory instruction
  Moment next_issue = Moment::issue;        ///< of its warp, behind a memory instruction
  bool preemptible = false;                 ///< a faulted warp can give up its slot
};

ExceptionScheme make_exception_scheme(const PolicyChoice& choice);

}  // namespace lockstep
