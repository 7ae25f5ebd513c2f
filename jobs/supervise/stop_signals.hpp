#pragma once

namespace lockstep {

/// SIGINT and SIGTERM while this lives: the first is remembered, the same once more ends the
/// process at once.  (mpirun sends SIGTERM after the SIGINT that a terminal sends to all.)
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// What the process returns after the signal that came first; exit_done if none came.
  static int status();
};

/// "SIGINT" of exit_interrupted.
const char* stop_signal_name(int status);

}  // namespace lockstep
