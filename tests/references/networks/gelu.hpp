#pragma once

// Reference of the workload gelu, in double.

#include <cmath>

#include "tests/references/elements.hpp"

namespace lockstep::reference::gelu {

inline double tanh_of(double x) {
  return std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
}
inline double gelu(double x) {
  return 0.5 * x * (1 + tanh_of(x));
}

inline void run(const Parameters&, Buffers& buffers) {
  const auto in = load_all(buffers, "in", isa::Type::f32);
  const auto d_out = load_all(buffers, "d_out", isa::Type::f32);
  std::vector<double> out, d_in;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double x = in[i], t = tanh_of(x);
    const double inner = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
    out.push_back(gelu(x));
    d_in.push_back(d_out[i] * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner));
  }
  store_all(buffers, "out", isa::Type::f32, out);
  store_all(buffers, "d_in", isa::Type::f32, d_in);
}

}  // namespace lockstep::reference::gelu
