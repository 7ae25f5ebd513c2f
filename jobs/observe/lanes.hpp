#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace lockstep {

/// Assigns intervals to lanes without overlap: each to the lane that has been free longest, or to a
/// new one.  Intervals come in the order of their beginnings.
class Lanes {
 public:
  std::size_t lane_of(std::int64_t begin, std::int64_t end) {
    std::size_t lane = count_;
    if (!free_at_.empty() && free_at_.top().first <= begin) {
      lane = free_at_.top().second;
      free_at_.pop();
    } else {
      ++count_;
    }
    free_at_.emplace(end, lane);
    return lane;
  }

 private:
  /// End of the lane's last interval, and number of the lane.
  using Entry = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> free_at_;
  std::size_t count_ = 0;
};

}  // namespace lockstep
