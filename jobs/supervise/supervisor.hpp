#pragma once

#include <chrono>
#include <string>

#include "core/engine/engine.hpp"
#include "core/engine/run_control.hpp"
#include "jobs/run/checkpoints.hpp"
#include "jobs/supervise/progress.hpp"

namespace lockstep {

/// Shows the progress of a run, writes checkpoints when the clock or a signal asks for one, and
/// leaves the run with a checkpoint when a signal asks for it.
///
/// A run makes progress even if checkpoints are requested continuously: between two it simulates
/// for as long as the last one took.
class Supervisor final : public RunControl {
 public:
  /// Makes a supervisor.  `checkpoints`: nullptr if there are none; a run that ends early then
  /// loses everything outside its output.  `every`: seconds of wall time; 0: none by the clock.
  Supervisor(Engine& engine, ProgressLine& line, Checkpoints* checkpoints, double every);

  void progress(const ProgressReport& report) override { line_.progress(report); }
  unsigned requests() override;
  bool agreed(unsigned bits) override;

  /// Returns the exit status of a run that was asked to end; it is equal on all ranks.
  int status() const;

 private:
  enum Request : unsigned { nothing = 0, interrupt = 1, terminate = 2, checkpoint = 4 };
  using Clock = std::chrono::steady_clock;

  void write(bool goes_on);

  Engine& engine_;
  ProgressLine& line_;
  Checkpoints* const checkpoints_;
  const Clock::duration every_;
  Clock::time_point due_;         ///< time of the next checkpoint by the clock
  Clock::time_point not_before_;  ///< earliest time of any checkpoint
  unsigned agreed_ = 0;
};

}  // namespace lockstep
