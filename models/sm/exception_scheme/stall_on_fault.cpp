/// Stall-on-fault: the baseline without preemptible faults.
///
/// A fault is a very long translation miss: the access stays in the load-store unit until the page
/// is there.  The pipeline is that of a machine without faults: sources are free after operand
/// read, the warp goes on issuing until it needs the result. Source: 000, section 2.2.
///
/// Simplified: all memory is mapped before a kernel starts, so an access that is not mapped is a
/// mistake of the program and is reported as one.
#include "models/sm/exception_scheme/exception_scheme.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

namespace {

class StallOnFault final : public ExceptionScheme {
 public:
  void fault(SmState& sm, const Access& access, unsigned group) override {
    sm.unmapped(access, group);
  }
};

}  // namespace

std::unique_ptr<ExceptionScheme> make_stall_on_fault(const PolicyChoice&) {
  return std::make_unique<StallOnFault>();
}

}  // namespace lockstep
