/// Warp disable, until commit: after a memory instruction the warp fetches nothing until the
/// instruction has committed.
///
/// An instruction that may fault is then always the warp's youngest, and no younger one has
/// overwritten its sources.  Squashing it leaves a precise state with this instruction as the next
/// one.
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
