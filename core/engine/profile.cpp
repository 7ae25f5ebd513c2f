#include "core/engine/profile.hpp"

#include <algorithm>
#include <limits>

namespace lockstep {

std::uint32_t WindowTimesRecorder::nanoseconds(double ticks) const {
  constexpr double most_nanoseconds = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(
      std::clamp(ticks / ticks_per_nanosecond_, 0.0, most_nanoseconds));
}

void WindowTimesRecorder::add(std::uint64_t window, const TicksSpent& until_now) {
  if (times_.size() == most) return;
  const double working = until_now.working - before_.working;
  const double exchanging = until_now.exchanging - before_.exchanging - waited_;
  const double waiting = until_now.waiting - before_.waiting + waited_;
  const double observing = until_now.observing - before_.observing;
  const double all = until_now.all - before_.all;
  times_.push_back({static_cast<std::uint32_t>(window), nanoseconds(working),
                    nanoseconds(all - working - exchanging - waiting - observing),
                    nanoseconds(exchanging), nanoseconds(waiting)});
  before_ = until_now;
  waited_ = 0;
}

void WindowTimesRecorder::exchanged(std::uint64_t waited_before) {
  if (last_exchange_ < times_.size()) {
    WindowTimes& window = times_[last_exchange_];
    const std::uint32_t waited =
        std::min(nanoseconds(static_cast<double>(waited_before)), window.exchanging);
    window.exchanging -= waited;
    window.waiting += waited;
  } else {
    waited_ += static_cast<double>(waited_before);
  }
  last_exchange_ = times_.size();
}

}  // namespace lockstep
