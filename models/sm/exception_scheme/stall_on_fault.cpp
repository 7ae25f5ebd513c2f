/// Stall-on-fault: the baseline without preemptible faults.
///
/// A fault is a very long translation miss: the access waits in place until the page is there. The
/// pipeline is that of a machine without faults, and the warp goes on issuing until it needs the
/// result.  Source: 000, section 2.2.
#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

namespace {

class StallOnFault final : public ExceptionScheme {
 public:
  bool preemptible() const override { return false; }
};

}  // namespace

PolicyRegistry<MakeExceptionScheme>::Row stall_on_fault() {
  return {"stall-on-fault", "a faulting access waits in the load-store unit (000, section 2.2)",
          [](const PolicyChoice&) -> std::unique_ptr<ExceptionScheme> {
            return std::make_unique<StallOnFault>();
          }};
}

}  // namespace lockstep
