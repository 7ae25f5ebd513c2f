#pragma once

// Reference of the workload fwt: butterflies from the farthest to the nearest.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::fwt {

inline void transform(std::span<float> data) {
  for (std::size_t distance = data.size() / 2; distance > 0; distance /= 2) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      if ((i & distance) != 0) continue;
      const float a = data[i], b = data[i + distance];
      data[i] = a + b;
      data[i + distance] = a - b;
    }
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto data = buffers.as<float>("data"), filter = buffers.as<float>("filter");
  transform(data);
  transform(filter);
  const float scale = static_cast<float>(1 / parameters.at("n"));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = data[i] * filter[i] * scale;
  transform(data);
}

}  // namespace lockstep::reference::fwt
