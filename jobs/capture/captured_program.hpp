/// The captured program: a child process with Lockstep's CUDA runtime ahead of others.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lockstep::capture {

class CapturedProgram {
 public:
  /// Starts the program.  `memory`: file that the program may map.  Throws UserError when it cannot
  /// be started.
  CapturedProgram(const std::vector<std::string>& command, int memory);
  /// Ends the program if it still runs.
  ~CapturedProgram();
  CapturedProgram(const CapturedProgram&) = delete;
  CapturedProgram& operator=(const CapturedProgram&) = delete;

  int socket() const { return socket_; }
  /// Ends the program at once.
  void end() const;
  /// Returns how the program ended: a status of wait().
  int wait();

 private:
  int socket_ = -1;
  pid_t process_ = -1;
};

}  // namespace lockstep::capture
