#pragma once

// Reference of the workload softmax, in double.

#include <algorithm>
#include <cmath>

#include "tests/references/elements.hpp"

namespace lockstep::reference::softmax {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int count = integer(parameters, "count"), columns = integer(parameters, "columns");
  const auto in = load_all(buffers, "in", isa::Type::f32);
  const auto d_out = load_all(buffers, "d_out", isa::Type::f32);
  std::vector<double> out(in.size()), d_in(in.size());
  for (int row = 0; row < count; ++row) {
    const auto first = in.begin() + row * columns;
    const double top = *std::max_element(first, first + columns);
    const int at = row * columns;
    double sum = 0, along = 0;
    for (int x = 0; x < columns; ++x) sum += std::exp(in[at + x] - top);
    for (int x = 0; x < columns; ++x) {
      out[at + x] = std::exp(in[at + x] - top) / sum;
      along += out[at + x] * d_out[at + x];
    }
    for (int x = 0; x < columns; ++x) d_in[at + x] = out[at + x] * (d_out[at + x] - along);
  }
  store_all(buffers, "out", isa::Type::f32, out);
  store_all(buffers, "d_in", isa::Type::f32, d_in);
}

}  // namespace lockstep::reference::softmax
