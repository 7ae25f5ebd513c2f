#pragma once

// Reference of the workload srad_reduce; sums of a block in double precision.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::srad_reduce {

/// Adds values that lie `stride` apart, 512 at a time.
inline void pass(std::span<float> values, std::size_t stride) {
  for (std::size_t first = 0; first < values.size(); first += 512 * stride) {
    double sum = 0;
    for (std::size_t k = 0; k < 512 && first + k * stride < values.size(); ++k) {
      sum += values[first + k * stride];
    }
    values[first] = static_cast<float>(sum);
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto image = buffers.as<float>("image");
  const auto sum = buffers.as<float>("sum"), squares = buffers.as<float>("squares");
  for (std::size_t i = 0; i < image.size(); ++i) {
    sum[i] = image[i];
    squares[i] = image[i] * image[i];
  }
  std::size_t stride = 1;
  for (int p = 0; p < integer(parameters, "passes"); ++p, stride *= 512) {
    pass(sum, stride);
    pass(squares, stride);
  }
}

}  // namespace lockstep::reference::srad_reduce
