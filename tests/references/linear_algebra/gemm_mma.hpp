#pragma once

// Reference of the workloads gemm_mma and gemm_tma, by element type: sums in double.

#include <cmath>

#include "tests/references/elements.hpp"

namespace lockstep::reference::gemm_mma {

template <isa::Type factors, isa::Type result, bool tf32 = false>
void run(const Parameters& parameters, Buffers& buffers) {
  const int m = integer(parameters, "m"), n = integer(parameters, "n");
  const int k = integer(parameters, "k");
  std::vector<double> a = load_all(buffers, "a", factors), b = load_all(buffers, "b", factors);
  if (tf32)  // eleven significant bits, the rest is ignored
    for (std::vector<double>* side : {&a, &b})
      for (double& x : *side) {
        int exponent = 0;
        std::frexp(x, &exponent);
        x = std::ldexp(std::trunc(std::ldexp(x, 11 - exponent)), exponent - 11);
      }
  std::vector<double> c(static_cast<std::size_t>(m) * n);
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column)
      for (int i = 0; i < k; ++i) c[row * n + column] += a[row * k + i] * b[column * k + i];
  store_all(buffers, "c", result, c);
}

}  // namespace lockstep::reference::gemm_mma
