#pragma once

#include <chrono>

#include "core/engine/run_control.hpp"

namespace lockstep {

/// Shows how far a run has come: one live line on a terminal, a line a minute in a batch log.
class ProgressLine final : public RunControl {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine() override;
  void progress(const ProgressReport& report) override;

 private:
  const bool quiet_, terminal_;
  bool shown_ = false;
  double last_logged_ = 0;
};

}  // namespace lockstep
