/// Warp disable, until commit: behind a memory instruction the warp fetches nothing until that has
/// committed.
///
/// The instruction that may fault is then always the warp's youngest, and nothing younger has
/// overwritten its sources: squashing it leaves a precise state whose next instruction it is.
/// Source: 000, section 3.1 (first scheme), Figure 4.
#include "models/sm/exception_scheme/warp_disable.hpp"

namespace lockstep {

namespace {

class WarpDisableCommit final : public WarpDisable {
 public:
  bool hears_commits() const override { return true; }
  void committed(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&,
                 SmCycle now) override {
    fetch(pipeline, warp, now);
  }
};

}  // namespace

PolicyRegistry<MakeExceptionScheme>::Row warp_disable_commit() {
  return {"warp-disable-commit",
          "no fetch behind a memory instruction until it commits (000, section 3.1)",
          [](const PolicyChoice&) -> std::unique_ptr<ExceptionScheme> {
            return std::make_unique<WarpDisableCommit>();
          }};
}

}  // namespace lockstep
