#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "core/exec/tick_clock.hpp"

namespace lockstep {

/// Separates the time in which a thread ran from the time in which the system gave its core to
/// another thread; ticks() counts both.
class ThreadTime {
 public:
  /// Starts the measurement; called by the thread that is measured.
  void begin() {
    wall_ = ticks();
    ran_ = nanoseconds_run();
  }

  /// Returns the ticks since begin(), or since the last call, in which this thread had no core.
  std::uint64_t ticks_away(double ticks_per_nanosecond) {
    const std::uint64_t wall_before = wall_;
    const std::int64_t ran_before = ran_;
    begin();
    const auto ran = static_cast<double>(ran_ - ran_before) * ticks_per_nanosecond;
    return static_cast<std::uint64_t>(
        std::max(0.0, static_cast<double>(wall_ - wall_before) - ran));
  }

 private:
  static std::int64_t nanoseconds_run() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }

  std::uint64_t wall_ = 0;
  std::int64_t ran_ = 0;
};

}  // namespace lockstep
