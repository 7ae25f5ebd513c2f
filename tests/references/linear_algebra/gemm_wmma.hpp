#pragma once

// Reference of the workload gemm_wmma: factors as f16, sums in double.

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::gemm_wmma {

/// The nearest f16, ties to even, of what is no larger than one.
inline double half_of(float value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 11, -24);
  return std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(value), -unit)), unit);
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int n = integer(parameters, "n");
  const auto a = buffers.as<float>("a");
  const auto b = buffers.as<float>("b");
  const auto c = buffers.as<float>("c");
  for (int row = 0; row < n; ++row) {
    std::vector<double> sum(n);
    for (int k = 0; k < n; ++k) {
      const double left = half_of(a[row * n + k]);
      for (int column = 0; column < n; ++column) sum[column] += left * half_of(b[k * n + column]);
    }
    for (int column = 0; column < n; ++column)
      c[row * n + column] = static_cast<float>(sum[column]);
  }
}

}  // namespace lockstep::reference::gemm_wmma
