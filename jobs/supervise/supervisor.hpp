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
  /// Moments of checkpoints beside those that a signal asks for.
  struct Moments {
    double every = 0;      ///< seconds of wall time between two; 0: none by the clock
    bool at_stop = false;  ///< true: one at the stop time of the run
  };
  /// Makes a supervisor.  `checkpoints`: nullptr if there are none; a run that ends early then
  /// loses everything outside its output.
  Supervisor(Engine& engine, ProgressLine& line, Checkpoints* checkpoints, const Moments& moments);

  void progress(const ProgressReport& report) override { line_.progress(report); }
  unsigned requests() override;
  bool agreed(unsigned bits) override;
  void stops() override;

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
  const bool at_stop_;
  Clock::time_point due_;         ///< time of the next checkpoint by the clock
  Clock::time_point not_before_;  ///< earliest time of any checkpoint
  unsigned agreed_ = 0;
};

}  // namespace lockstep
