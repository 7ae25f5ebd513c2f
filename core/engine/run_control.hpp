#pragma once

#include <cstdint>

#include "core/time/time.hpp"

namespace lockstep {

/// How far a run has come; for people, never for the simulation.
struct ProgressReport {
  Time simulated;  ///< time before which nothing is left to do
  Time stop_at;    ///< Time::never() if the run ends when all components are finished
  std::uint64_t windows = 0;
  double wall_seconds = 0;
};

/// Requests of the outside world to a running simulation: signals, wall-clock limits, a progress
/// line.
class RunControl {
 public:
  virtual ~RunControl() = default;

  /// Reports progress. Called on rank 0 between windows, at most once per
  /// EngineOptions::progress_seconds of wall time.
  virtual void progress(const ProgressReport& report) { static_cast<void>(report); }

  /// Returns bits that this rank raises (0: none). Called on every rank before each exchange. Only
  /// the low 16 bits are sent. Flags of signal handlers belong here.
  virtual unsigned requests() { return 0; }

  /// Acts on the bits that any rank raised (never 0). Called on every rank, between windows and
  /// after the same exchange. Engine::save may be called from here. Returns false to leave
  /// Engine::run, which may be called again to continue.
  virtual bool agreed(unsigned bits) { return static_cast<void>(bits), true; }

  /// Acts on the stop time of the run, before its last sample. Called on every rank when nothing is
  /// left to do before that time. Engine::save may be called from here.
  virtual void stops() {}
};

}  // namespace lockstep
