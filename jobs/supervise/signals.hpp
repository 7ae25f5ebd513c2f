#pragma once

namespace lockstep {

/// What signals ask of a run; handlers only remember it.
///
/// SIGTERM, also a second one, and SIGINT: come to an end that can be resumed.  SIGINT once more
/// ends the process at once.  (mpirun sends SIGTERM after the SIGINT that a terminal sends to all.)
/// SIGUSR1: write a checkpoint and go on.
struct Signals {
  /// From now on to the end of the process: a signal that comes while libraries are taken down must
  /// not kill a run whose output is whole.
  static void listen();

  /// What the process returns after the signal to end that came first; exit_done if none came.
  static int status();
  static bool ask_for_checkpoint();
  /// One has been written: whatever asked for it until now is served.
  static void serve_checkpoint();
};

/// "SIGINT" of exit_interrupted.
const char* signal_name(int status);

}  // namespace lockstep
