#include "models/sm/exception_scheme/registry.hpp"

#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

/// Stall-on-fault: a fault is a very long miss; the instruction stays in the load-store unit, and
/// the pipeline needs nothing.  Source: 000, section 2.2.
ExceptionScheme stall_on_fault(const PolicyChoice&);

namespace {

using Make = ExceptionScheme (*)(const PolicyChoice&);

const PolicyRegistry<Make>& registry() {
  static const PolicyRegistry<Make> rows{
      {"stall-on-fault", "a faulting access waits in the load-store unit (000, section 2.2)",
       stall_on_fault},
  };
  return rows;
}

}  // namespace

const PolicyList& exception_scheme_policies() {
  return registry().list();
}

ExceptionScheme make_exception_scheme(const PolicyChoice& choice) {
  return registry().factory(choice)(choice);
}

}  // namespace lockstep
