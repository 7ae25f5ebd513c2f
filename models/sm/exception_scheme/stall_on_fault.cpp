/// Stall-on-fault: the baseline without preemptible faults.
///
/// A fault is a very long translation miss: the access stays where it is until the page is there.
/// The pipeline is that of a machine without faults: sources are free after operand read, the warp
/// goes on issuing until it needs the result.  Source: 000, section 2.2.
#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

namespace {

class StallOnFault final : public ExceptionScheme {
 public:
  void refused(Translation&, std::uint16_t) override {}
};

}  // namespace

std::unique_ptr<ExceptionScheme> make_stall_on_fault(const PolicyChoice&) {
  return std::make_unique<StallOnFault>();
}

}  // namespace lockstep
