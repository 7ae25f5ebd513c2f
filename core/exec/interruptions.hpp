#pragma once

#include <sys/resource.h>

#include <utility>

namespace lockstep {

/// Notices that the system gave this thread's core to another: what was measured meanwhile is not
/// what it took.
class Interruptions {
 public:
  /// Whether there was any since the last call; the first one does not know.
  bool any() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    const long before = std::exchange(seen_, usage.ru_nivcsw);
    return before >= 0 && before != usage.ru_nivcsw;
  }

 private:
  long seen_ = -1;
};

}  // namespace lockstep
