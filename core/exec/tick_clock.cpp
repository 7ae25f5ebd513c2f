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

double measure_ordered_ticks_cost() {
  constexpr int batches = 10, pairs = 200;
  // Least ticks of a batch: other batches were interrupted.
  std::uint64_t least = ~std::uint64_t{0};
  for (int batch = 0; batch < batches; ++batch) {
    std::uint64_t sum = 0;
    for (int i = 0; i < pairs; ++i) {
      const std::uint64_t begin = ordered_ticks();
      sum += ordered_ticks() - begin;
    }
    least = std::min(least, sum);
  }
  return static_cast<double>(least) / pairs;
}

}  // namespace lockstep
