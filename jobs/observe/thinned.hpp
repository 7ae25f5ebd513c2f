#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

/// Points of some series with a common axis.
struct Points {
  std::vector<std::int64_t> times;
  std::vector<std::vector<double>> values;  ///< [series][point]; NaN: no value
};

/// Returns at most two points per pixel of time: the least and the largest value of each series
/// there, in their order.  They look like all points together.
Points thinned(const Points& points, std::size_t pixels);

}  // namespace lockstep
