#pragma once

#include "core/engine/engine.hpp"
#include "core/engine/run_control.hpp"
#include "jobs/supervise/progress.hpp"

namespace lockstep {

/// Shows how far a run has come, and ends it in order when a signal asks for that: at the end of
/// the epoch under way, on all ranks.
class Supervisor final : public RunControl {
 public:
  Supervisor(Engine& engine, ProgressLine& line) : engine_(engine), line_(line) {}

  void progress(const ProgressReport& report) override { line_.progress(report); }
  unsigned requests() override;
  bool agreed(unsigned bits) override;

  /// What a run that was asked to end returns; the same on all ranks.
  int status() const;

 private:
  enum Request : unsigned { interrupt = 1, terminate = 2 };

  Engine& engine_;
  ProgressLine& line_;
  unsigned agreed_ = 0;
};

}  // namespace lockstep
