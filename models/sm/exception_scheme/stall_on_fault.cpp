/// Stall-on-fault: the baseline without preemptible faults.
///
/// A fault is a very long translation miss: the access stays in the load-store unit until the page
/// is there.  The pipeline is that of a machine without faults: sources are free after operand
/// read, the warp goes on issuing until it needs the result. Source: 000, section 2.2.
///
/// Simplified: nothing faults yet, see exception_scheme.hpp.
#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

ExceptionScheme stall_on_fault(const PolicyChoice&) {
  return {};
}

}  // namespace lockstep
