#pragma once

namespace lockstep {

/// Requests of signals to a run.
///
/// SIGTERM, also a second one, and SIGINT: come to an end that can be resumed.  SIGINT once more
/// ends the process at once.  (mpirun sends SIGTERM after the SIGINT that a terminal sends to all.)
/// SIGUSR1: write a checkpoint and go on.
///
/// All threads block them, from before the constructors of libraries to the end of the process, and
/// a thread of its own takes them.  So libraries may install handlers as they like (METIS does, and
/// leaves others behind than it found), and nothing is interrupted.  Signals that come earlier,
/// while the kernel and the loader bring the program into memory, end it; a process that was
/// started with these signals blocked, as those of `sweep` are, hears them all.
struct Signals {
  /// Begins to take them if `command` simulates.
  static void listen(const char* command);
  /// Leaves signals to another program, which will replace this one.
  static void leave_to_others();

  /// Returns the exit status of the process after the signal to end that came first; exit_done if
  /// none came.
  static int status();
  static bool ask_for_checkpoint();
  /// Notes that a checkpoint has been written, which serves all requests so far.
  static void serve_checkpoint();
};

/// Returns the name of a signal: "SIGINT" for exit_interrupted.
const char* signal_name(int status);

}  // namespace lockstep
