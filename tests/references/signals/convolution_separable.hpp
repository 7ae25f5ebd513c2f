#pragma once

// Reference of the workload convolution_separable.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::convolution_separable {

/// Along lines of `length` pixels that lie `stride` apart; pixel 0 of a line is at `first`.
inline void line(std::span<const float> in, std::span<const float> filter, std::span<float> out,
                 int first, int length, int stride) {
  for (int i = 0; i < length; ++i) {
    float sum = 0.0f;
    for (int k = 0; k < 17; ++k) {
      const int at = i + k - 8;
      const float pixel = at >= 0 && at < length ? in[first + at * stride] : 0.0f;
      sum = std::fma(filter[k], pixel, sum);
    }
    out[first + i * stride] = sum;
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int width = integer(parameters, "width"), height = integer(parameters, "height");
  const auto filter = buffers.as<float>("filter");
  const auto by_rows = buffers.as<float>("by_rows");
  for (int y = 0; y < height; ++y) {
    line(buffers.as<float>("image"), filter, by_rows, y * width, width, 1);
  }
  for (int x = 0; x < width; ++x) {
    line(by_rows, filter, buffers.as<float>("result"), x, height, width);
  }
}

}  // namespace lockstep::reference::convolution_separable
