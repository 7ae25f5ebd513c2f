#include "models/sm/exception_scheme/registry.hpp"

#include "core/parameters/registered.hpp"
#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

static const PolicyRegistry<MakeExceptionScheme>& schemes() {
  static const PolicyRegistry<MakeExceptionScheme> rows{
      LOCKSTEP_REGISTERED(MakeExceptionScheme, stall_on_fault),
      LOCKSTEP_REGISTERED(MakeExceptionScheme, warp_disable_commit),
      LOCKSTEP_REGISTERED(MakeExceptionScheme, warp_disable_last_check),
      LOCKSTEP_REGISTERED(MakeExceptionScheme, replay_queue),
      LOCKSTEP_REGISTERED(MakeExceptionScheme, operand_log),
  };
  return rows;
}

const PolicyList& exception_scheme_policies() {
  return schemes().list();
}

std::unique_ptr<ExceptionScheme> make_exception_scheme(const PolicyChoice& choice) {
  return schemes().factory(choice)(choice);
}

bool is_preemptible(const PolicyChoice& choice) {
  return make_exception_scheme(choice)->preemptible();
}

IssueDetail detail_for(const SmParameters& parameters, const PolicyChoice& choice, bool saves) {
  if (saves || is_preemptible(choice)) return IssueDetail::precise;
  return parameters.source_release == SourceRelease::operand_read ? IssueDetail::sources
                                                                  : IssueDetail::fast;
}

std::uint32_t log_entries_of(const PolicyChoice& choice) {
  return make_exception_scheme(choice)->log_entries();
}

}  // namespace lockstep
