#include "models/host_link/link_curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/random/fixed_log.hpp"

namespace lockstep {

namespace {

struct Point {
  double bytes, bytes_per_second;
};
/// 001, Table 1.
constexpr std::array<Point, 5> points{{{4096, 3.2219e9},
                                       {16384, 6.4437e9},
                                       {65536, 8.4771e9},
                                       {262144, 10.508e9},
                                       {1048576, 11.223e9}}};

double measured_bandwidth(double bytes) {
  if (bytes >= points.back().bytes) return points.back().bytes_per_second;
  std::size_t above = 1;
  while (bytes >= points[above].bytes) ++above;
  const Point& low = points[above - 1];
  const Point& high = points[above];
  const double part = fixed_log(bytes / low.bytes) / fixed_log(high.bytes / low.bytes);
  return low.bytes_per_second + (high.bytes_per_second - low.bytes_per_second) * part;
}

constexpr double pi = 3.14159265358979323846;

/// Returns the arc tangent of x > 0, from basic operations in a fixed order: libm differs between
/// computers.
double fixed_atan(double x) {
  if (x > 1) return pi / 2 - fixed_atan(1 / x);
  const double y = x / (1 + std::sqrt(1 + x * x));  // tangent of half the angle, below 0.415
  const double z = y * y;
  double sum = 0;
  for (int n = 33; n >= 1; n -= 2) sum = 1.0 / n - z * sum;
  return 2 * y * sum;
}

}  // namespace

Time LinkCurve::duration(std::uint64_t count) const {
  const auto bytes = static_cast<double>(count);
  double seconds = 0;
  switch (parameters_.link_curve) {
    case CurveKind::measured: {
      const double size = std::max(bytes, points.front().bytes);
      seconds = size / measured_bandwidth(size);
      break;
    }
    case CurveKind::affine:
      seconds = bytes / parameters_.link_bandwidth.bytes_per_second();
      break;
    case CurveKind::atan:
      seconds = bytes / (2 / pi * parameters_.atan_bandwidth.bytes_per_second() *
                         fixed_atan(parameters_.atan_slope * bytes / 1024));
      break;
  }
  const Time time{static_cast<std::int64_t>(seconds * 1e15 + 0.5)};
  return parameters_.link_curve == CurveKind::affine ? parameters_.transfer_setup + time : time;
}

}  // namespace lockstep
