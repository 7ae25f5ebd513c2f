#include "jobs/observe/thinned.hpp"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

struct Extremes {
  double first, second;
};

/// Returns the least and the largest of values[begin, end), in the order in which they occur.
Extremes extremes(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  std::size_t least = begin, largest = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (std::isnan(values[i])) continue;
    if (std::isnan(values[least]) || values[i] < values[least]) least = i;
    if (std::isnan(values[largest]) || values[i] > values[largest]) largest = i;
  }
  return {values[std::min(least, largest)], values[std::max(least, largest)]};
}

}  // namespace

Points thinned(const Points& points, std::size_t pixels) {
  const std::vector<std::int64_t>& times = points.times;
  if (times.size() <= 2 * pixels) return points;
  const double scale = static_cast<double>(pixels) / static_cast<double>(times.back() + 1);
  const auto pixel_of = [&](std::size_t point) {
    return static_cast<std::size_t>(static_cast<double>(times[point]) * scale);
  };
  Points few;
  few.values.resize(points.values.size());
  for (std::size_t begin = 0, end = 0; begin < times.size(); begin = end) {
    while (end < times.size() && pixel_of(end) == pixel_of(begin)) ++end;
    few.times.push_back(times[begin]);
    if (end - begin > 1) few.times.push_back(times[end - 1]);
    for (std::size_t s = 0; s < points.values.size(); ++s) {
      const auto [first, second] = extremes(points.values[s], begin, end);
      few.values[s].push_back(first);
      if (end - begin > 1) few.values[s].push_back(second);
    }
  }
  return few;
}

}  // namespace lockstep
