#pragma once

// Reference of the workload layer_norm, in double.

#include <cmath>

#include "tests/references/elements.hpp"

namespace lockstep::reference::layer_norm {

/// Mean and 1 / deviation.
struct Moments {
  double mean = 0, scale = 0;
};
inline Moments moments_of(const double* row, int columns) {
  double sum = 0, squares = 0;
  for (int x = 0; x < columns; ++x) sum += row[x];
  const double mean = sum / columns;
  for (int x = 0; x < columns; ++x) squares += (row[x] - mean) * (row[x] - mean);
  return {mean, 1 / std::sqrt(squares / columns + 1e-5)};
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  using isa::Type;
  const int count = integer(parameters, "count"), columns = integer(parameters, "columns");
  const auto in = load_all(buffers, "in", Type::f32), gain = load_all(buffers, "gain", Type::f32);
  const auto bias = load_all(buffers, "bias", Type::f32);
  const auto d_out = load_all(buffers, "d_out", Type::f32);
  std::vector<double> out(in.size()), d_in(in.size()), moments(2 * count), d_gain(columns);
  std::vector<double> d_bias(columns);
  for (int row = 0; row < count; ++row) {
    const double *x = in.data() + row * columns, *d = d_out.data() + row * columns;
    const auto [mean, scale] = moments_of(x, columns);
    moments[2 * row] = mean;
    moments[2 * row + 1] = scale;
    double sum = 0, along = 0;
    for (int i = 0; i < columns; ++i) {
      const double value = (x[i] - mean) * scale;
      out[row * columns + i] = value * gain[i] + bias[i];
      d_gain[i] += d[i] * value;
      d_bias[i] += d[i];
      sum += d[i] * gain[i] / columns;
      along += d[i] * gain[i] * value / columns;
    }
    for (int i = 0; i < columns; ++i)
      d_in[row * columns + i] = scale * (d[i] * gain[i] - sum - (x[i] - mean) * scale * along);
  }
  store_all(buffers, "out", Type::f32, out);
  store_all(buffers, "moments", Type::f32, moments);
  store_all(buffers, "d_in", Type::f32, d_in);
  store_all(buffers, "d_gain", Type::f32, d_gain);
  store_all(buffers, "d_bias", Type::f32, d_bias);
}

}  // namespace lockstep::reference::layer_norm
