/// Records of --profile: the cost of each component, in total and by window, and the use of each
/// window's time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

/// Cost of one component in one window, and the number of windows that it stands for: windows are
/// sampled, but every long step is recorded.
struct WindowCost {
  std::uint32_t window;
  std::uint32_t component;
  std::uint32_t nanoseconds;
  std::uint32_t windows;
};

/// Use of the time of one window: nanoseconds, averaged over the threads of this rank.
struct WindowTimes {
  std::uint32_t window, working, synchronising, exchanging, waiting;
};

/// Records of --profile on this rank.
struct Profile {
  /// Time in each component; 0 for components of other ranks.
  std::vector<std::uint64_t> component_nanoseconds;
  std::vector<WindowCost> costs;   ///< costs of the first few million window steps
  std::vector<WindowTimes> times;  ///< times of the first million windows
  double working_seconds = 0;      ///< wall time in components
  double exchanging_seconds = 0;
  /// At epochs, for what this rank's components have counted; summed over its threads.
  double sampling_seconds = 0;
  /// Windows between two meetings of the ranks of EngineOptions::apart.
  double windows_apart = 1;
};

/// Ticks since the beginning, by use.
struct TicksSpent {
  double all = 0, working = 0, exchanging = 0, waiting = 0, observing = 0;
};

/// Makes a row for each window out of running totals.
class WindowTimesRecorder {
 public:
  explicit WindowTimesRecorder(double ticks_per_nanosecond)
      : ticks_per_nanosecond_(ticks_per_nanosecond) {}

  /// Adds a row after a window: ticks until now, where waiting within an exchange counts as
  /// exchange.
  void add(std::uint64_t window, const TicksSpent& until_now);
  /// Notes an exchange.  `waited_before`: ticks of the exchange before that were spent waiting for
  /// other ranks.
  void exchanged(std::uint64_t waited_before);

  const std::vector<WindowTimes>& times() const { return times_; }

 private:
  std::uint32_t nanoseconds(double ticks) const;

  static constexpr std::size_t most = std::size_t{1} << 20;
  double ticks_per_nanosecond_;
  std::vector<WindowTimes> times_;
  TicksSpent before_;
  std::size_t last_exchange_ = 0;  ///< window in whose time the last exchange fell
  double waited_ = 0;  ///< wall time waited in exchanges of the window that is not over yet
};

}  // namespace lockstep
