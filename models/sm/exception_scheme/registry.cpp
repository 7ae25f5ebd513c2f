#include "models/sm/exception_scheme/registry.hpp"

#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

namespace {

using MakeScheme = std::unique_ptr<ExceptionScheme> (*)(const PolicyChoice&);

const PolicyRegistry<MakeScheme>& schemes() {
  static const PolicyRegistry<MakeScheme> rows{
      {"stall-on-fault", "a faulting access waits in the load-store unit (000, section 2.2)",
       make_stall_on_fault},
  };
  return rows;
}

}  // namespace

const PolicyList& exception_scheme_policies() {
  return schemes().list();
}

std::unique_ptr<ExceptionScheme> make_exception_scheme(const PolicyChoice& choice) {
  return schemes().factory(choice)(choice);
}

}  // namespace lockstep
