#include "core/exec/tick_clock.hpp"

#include <algorithm>

namespace lockstep {

double measure_ticks_per_nanosecond() {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point begin = Steady::now();
  const std::uint64_t first = ticks();
  Steady::time_point end = begin;
  while (end - begin < std::chrono::microseconds(200)) end = Steady::now();
  const std::uint64_t last = ticks();
  const double nanoseconds = std::chrono::duration<double, std::nano>(end - begin).count();
  return static_cast<double>(last - first) / nanoseconds;
}

std::uint64_t measure_ordered_ticks_cost() {
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t begin = ordered_ticks();
    least = std::min(least, ordered_ticks() - begin);
  }
  return least;
}

}  // namespace lockstep
