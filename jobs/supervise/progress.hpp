#pragma once

#include <string>

#include "core/engine/run_control.hpp"
#include "core/output/recorder.hpp"

namespace lockstep {

/// Shows how far a run has come: one live line on a terminal, a line a minute in a batch log.
class ProgressLine {
 public:
  /// `recorder`: where the counts stand; null on ranks without it.
  ProgressLine(bool quiet, const StatisticsRecorder* recorder);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void progress(const ProgressReport& report);
  /// A line that stays, also of a quiet run.
  void note(const std::string& text) const;

 private:
  const bool quiet_, terminal_;
  const StatisticsRecorder* recorder_;
  bool shown_ = false;
  double last_logged_ = 0;
};

}  // namespace lockstep
