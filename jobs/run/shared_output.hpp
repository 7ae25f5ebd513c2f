#pragma once

#include <string>

namespace lockstep {

/// The output of a run that several processes need and one of them simulates.  The others wait for
/// it, on other nodes too if the file system has locks.
class SharedOutput {
 public:
  /// Waits for a process that is simulating it, or for a signal to this process.
  explicit SharedOutput(const std::string& path);
  /// Ends the waiting of others.
  ~SharedOutput();
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  /// Returns whether the run need not be simulated.
  bool is_whole() const;

 private:
  const std::string path_;
  int lock_;  ///< descriptor of the lock file beside the output
};

}  // namespace lockstep
