#include "models/sm/exception_scheme/registry.hpp"

#include "core/parameters/registered.hpp"
#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

static PolicyTraits traits_of_scheme(const PolicyChoice& choice) {
  PolicyTraits traits;
  if (is_preemptible(choice)) traits.has = {squashes};
  return traits;
}

static const PolicyRegistry<MakeExceptionScheme>& schemes() {
  static const PolicyRegistry<MakeExceptionScheme> rows{
      {
          LOCKSTEP_REGISTERED(MakeExceptionScheme, stall_on_fault),
          LOCKSTEP_REGISTERED(MakeExceptionScheme, warp_disable_commit),
          LOCKSTEP_REGISTERED(MakeExceptionScheme, warp_disable_last_check),
          LOCKSTEP_REGISTERED(MakeExceptionScheme, replay_queue),
          LOCKSTEP_REGISTERED(MakeExceptionScheme, operand_log),
      },
      traits_of_scheme};
  return rows;
}

const PolicyList& exception_scheme_policies() {
  return schemes().list();
}

std::unique_ptr<ExceptionScheme> make_exception_scheme(const PolicyChoice& choice) {
  return schemes().factory(choice)(choice);
}

PolicyNeed needs_squashing(std::string why) {
  return {.plug_point = "exception_scheme",
          .trait = squashes,
          .why = std::move(why),
          .other = "does not give it up",
          .advice =
              "choose warp-disable-commit, warp-disable-last-check, replay-queue or "
              "operand-log"};
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
