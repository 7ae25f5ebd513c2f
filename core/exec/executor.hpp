#pragma once

#include <cstdint>
#include <memory>

namespace lockstep {

/// The tasks of a window: one share of tasks per owner thread.  The result does not depend on the
/// thread that runs a task.  No function throws.
class WindowTasks {
 public:
  virtual ~WindowTasks() = default;
  /// Prefetches data of `share` that other threads wrote. `open` will be called for the share in
  /// window `number`.
  virtual void fetch(std::uint32_t share, std::uint64_t number) const = 0;
  /// Prefetches the results of tasks, which other threads may have run, for the thread that called
  /// run_window.
  virtual void fetch_outcome() const = 0;
  /// Finds the tasks of `share`. Returns their number. Called once per share and window.
  virtual std::uint32_t open(std::uint32_t share, std::uint32_t thread) = 0;
  /// Runs tasks [first, last) of an open share.
  virtual void run(std::uint32_t share, std::uint32_t first, std::uint32_t last,
                   std::uint32_t thread) = 0;
};

/// Use of the windows' time, in ticks averaged over the threads.
struct ExecutorTimes {
  double working = 0;
  double synchronising = 0;  ///< time from the opening of a window or the last arrival to the exit
  double waiting = 0;        ///< time spent waiting for slower threads
};

/// Carries out windows.  Thread 0 is the one that calls.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::uint32_t threads() const = 0;
  /// Returns when all tasks of all shares (one per thread) of window `number` have run.  A late
  /// thread may still use `tasks` to prefetch: they must stay valid until end().
  virtual void run_window(WindowTasks& tasks, std::uint64_t number) = 0;
  /// Begins a series of windows; other threads stay ready until its end.
  virtual void begin() {}
  virtual void end() {}
  virtual ExecutorTimes times() const = 0;
};

std::unique_ptr<Executor> make_serial_executor();
/// Returns an executor with threads of oneTBB. `threads` > 1.
std::unique_ptr<Executor> make_thread_executor(std::uint32_t threads);

}  // namespace lockstep
