#include "models/sm/exception_scheme/registry.hpp"

#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

namespace {

using Make = std::unique_ptr<ExceptionScheme> (*)(const PolicyChoice&);

const PolicyRegistry<Make>& registry() {
  static const PolicyRegistry<Make> rows{
      {"stall-on-fault", "a faulting access waits in the load-store unit (000, section 2.2)",
       make_stall_on_fault},
  };
  return rows;
}

}  // namespace

const PolicyList& exception_scheme_policies() {
  return registry().list();
}

std::unique_ptr<ExceptionScheme> make_exception_scheme(const PolicyChoice& choice) {
  return registry().factory(choice)(choice);
}

}  // namespace lockstep
