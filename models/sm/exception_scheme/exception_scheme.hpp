/// What an SM does with accesses to a page that is not in GPU memory.
///
/// Contract: called when the GMMU has refused a translation.  The lines that need the page are
/// parked and leave, in order, when the page has come; a scheme may do more about their warps. That
/// is rare, so this may be a virtual call; what the pipeline does for every instruction is not.
/// Source: 000, sections 2.1 and 3.
#pragma once

#include <cstdint>
#include <memory>

#include "core/parameters/policy.hpp"

namespace lockstep {

class Translation;

class ExceptionScheme {
 public:
  virtual ~ExceptionScheme() = default;
  /// `miss`: the page, with what is parked there (ParkedPages::miss).
  virtual void refused(Translation& translation, std::uint16_t miss) = 0;
};

std::unique_ptr<ExceptionScheme> make_exception_scheme(const PolicyChoice& choice);

/// One function per file of this folder.
std::unique_ptr<ExceptionScheme> make_stall_on_fault(const PolicyChoice& choice);

}  // namespace lockstep
