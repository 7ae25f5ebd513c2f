/// What an SM does with an access whose last translation check fails.
///
/// Contract: called in the load-store unit for the line at the head of its queue, whose page is not
/// mapped.  The look-up is rare, so this may be a virtual call; what the pipeline does for every
/// instruction is not.
/// Source: 000, sections 2.1 and 3.
///
/// Simplified: there are no page faults yet; an access outside of what is mapped ends the run.
#pragma once

#include <memory>

#include "core/parameters/policy.hpp"

namespace lockstep {

struct Access;
struct SmState;

class ExceptionScheme {
 public:
  virtual ~ExceptionScheme() = default;
  /// The access's line `group` is not mapped.
  virtual void fault(SmState& sm, const Access& access, unsigned group) = 0;
};

std::unique_ptr<ExceptionScheme> make_exception_scheme(const PolicyChoice& choice);

/// One function per file of this folder.
std::unique_ptr<ExceptionScheme> make_stall_on_fault(const PolicyChoice& choice);

}  // namespace lockstep
