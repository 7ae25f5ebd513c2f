/// Records of --profile: the cost of each component, in all and window by window, and where the
/// time of each window went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

/// Cost of one component in one window, and how many windows like it this one stands for: windows
/// are recorded by sample, but each step that takes long is recorded.
struct WindowCost {
  std::uint32_t window;
  std::uint32_t component;
  std::uint32_t nanoseconds;
  std::uint32_t windows;
};

/// Time of one window by use: nanoseconds, averaged over the threads of this rank.
struct WindowTimes {
  std::uint32_t window, working, synchronising, exchanging, waiting;
};

/// Records of --profile on this rank.
struct Profile {
  std::vector<std::uint64_t> component_nanoseconds;  ///< by component; 0 for those of other ranks
  std::vector<WindowCost> costs;                     ///< the first few million
  std::vector<WindowTimes> times;                    ///< of the first million windows
  double working_seconds = 0;                        ///< in components
  double exchanging_seconds = 0;
  double sampling_seconds = 0;  ///< at epochs, for what this rank's components have counted
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
  /// Notes an exchange: so many ticks of the one before were spent waiting for other ranks.
  void exchanged(std::uint64_t waited_before);

  const std::vector<WindowTimes>& times() const { return times_; }

 private:
  std::uint32_t nanoseconds(double ticks) const;

  static constexpr std::size_t most = std::size_t{1} << 20;
  double ticks_per_nanosecond_;
  std::vector<WindowTimes> times_;
  TicksSpent before_;
  std::size_t last_exchange_ = 0;  ///< window in whose time it fell
  double waited_ = 0;              ///< in exchanges of a window that is not over yet
};

}  // namespace lockstep
