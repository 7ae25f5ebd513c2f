/// Warp disable, until the last check: after a memory instruction the warp fetches nothing until
/// all lines of the instruction have their translations.
///
/// From then on the instruction cannot fault, though its data may return much later.
/// Source: 000, section 3.1 (second scheme), Figure 5.
#include "models/sm/exception_scheme/warp_disable.hpp"

namespace lockstep {

namespace {

class WarpDisableLastCheck final : public WarpDisable {
 public:
  void checked(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&,
               SmCycle now) override {
    fetch(pipeline, warp, now);
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
