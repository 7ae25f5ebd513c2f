#pragma once

#include "models/sm/exception_scheme/exception_scheme.hpp"

namespace lockstep {

/// Warp disable: behind a memory instruction the warp fetches nothing; a scheme says until when.
/// Source: 000, section 3.1.
class WarpDisable : public ExceptionScheme {
 public:
  void issued(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&) final {
    pipeline.held().stop_fetch(warp);
  }
  void context_out(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&, SmCycle) final {
    pipeline.held().resume_fetch(warp);
  }
  void context_in(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord&) final {
    pipeline.held().stop_fetch(warp);
  }

 protected:
  /// Fetches the warp's next instruction in the cycle after the one that it waited for, so that it
  /// issues one cycle later.
  static void fetch(const Pipeline& pipeline, WarpSlot warp, SmCycle now) {
    pipeline.front_end.tell_at(warp, WarpEvent::fetch_on, now + 1);
  }
};

}  // namespace lockstep
