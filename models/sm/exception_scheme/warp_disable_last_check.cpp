/// Warp disable, until the last check: behind a memory instruction the warp fetches nothing until
/// all its lines have their translations.
///
/// From then on the instruction cannot fault, though its data may return much later.
/// Source: 000, section 3.1 (second scheme), Figure 5.
#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

namespace {

class WarpDisableLastCheck final : public ExceptionScheme {
 public:
  void issued(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&) override {
    pipeline.held().stop_fetch(warp);
  }
  /// Fetched now, in the cycle after the check; issued in the next.
  void checked(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&,
               SmCycle now) override {
    pipeline.front_end.tell_at(warp, WarpEvent::fetch_on, now + 1);
  }
  void context_out(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&,
                   SmCycle) override {
    pipeline.held().resume_fetch(warp);
  }
  void context_in(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&) override {
    pipeline.held().stop_fetch(warp);
  }
};

}  // namespace

PolicyRegistry<MakeExceptionScheme>::Row warp_disable_last_check() {
  return {"warp-disable-last-check",
          "no fetch behind a memory instruction until its last translation check "
          "(000, section 3.1)",
          [](const PolicyChoice&) -> std::unique_ptr<ExceptionScheme> {
            return std::make_unique<WarpDisableLastCheck>();
          }};
}

}  // namespace lockstep
