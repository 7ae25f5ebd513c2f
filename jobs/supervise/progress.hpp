#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/run_control.hpp"
#include "core/output/recorder.hpp"
#include "jobs/supervise/terminal.hpp"

namespace lockstep {

/// How fast something grows, smoothed over the last few looks.
class Rate {
 public:
  explicit Rate(std::uint64_t count) : count_(count) {}
  void look(std::uint64_t count, double seconds);
  /// Takes a look at a count that stands still between bursts.  A look without a change does not
  /// count; the next one covers the time since the last change.
  void look_at_burst(std::uint64_t count, double seconds) {
    if (count != count_) look(count, seconds);
  }
  double per_second() const { return per_second_; }

 private:
  std::uint64_t count_;
  double seconds_ = 0, per_second_ = 0;
  bool known_ = false;
};

/// `parts`, as many as fit in `columns`, the first in any case.
std::string fitted(const std::vector<std::string>& parts, std::size_t columns);

/// Shows the progress of a run: one live line on a terminal, a line a minute in a batch log.
class ProgressLine {
 public:
  /// Makes the line.  `recorder`: source of the counts; nullptr on ranks without it.  `blocks`:
  /// number of all programs' blocks, if known.
  ProgressLine(bool quiet, const StatisticsRecorder* recorder, std::optional<std::uint64_t> blocks);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void progress(const ProgressReport& report);
  /// Prints a line that the progress line does not overwrite, even in a quiet run.
  void note(const std::string& text) const;

 private:
  struct Counts {
    std::uint64_t blocks = 0, warp_instructions = 0;
  };
  Counts counts() const;
  std::string share_text(std::uint64_t blocks) const;
  std::string left_text(std::uint64_t blocks) const;

  const bool quiet_;
  const Terminal terminal_;
  const StatisticsRecorder* recorder_;
  const std::optional<std::uint64_t> expected_blocks_;
  Rate blocks_, warp_instructions_;
  bool shown_ = false;
  double last_logged_ = 0;
};

}  // namespace lockstep
