#pragma once

#include <algorithm>
#include <cstdint>

#include "core/statistics/statistics.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Direction of a link: packets use it one after the other, in the order of their requests.
class Wire {
 public:
  Wire() = default;
  explicit Wire(double bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  struct Turn {
    Time begin, end;
    std::uint64_t waited = 0;  ///< time waited, femtoseconds
    std::uint32_t behind = 0;  ///< tenant of the packet before
  };
  Turn take(Time now, double bytes, std::uint32_t tenant) {
    Turn turn;
    turn.begin = std::max(free_, now);
    turn.end = turn.begin + duration(bytes);
    turn.waited = static_cast<std::uint64_t>((turn.begin - now).femtoseconds());
    turn.behind = last_;
    free_ = turn.end;
    last_ = tenant;
    return turn;
  }
  Time duration(double bytes) const {
    return Time{static_cast<std::int64_t>(bytes * 1e15 / bytes_per_second_)};
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(free_, last_);
  }

 private:
  double bytes_per_second_ = 1;
  Time free_;
  std::uint32_t last_ = 0;
};

}  // namespace lockstep
