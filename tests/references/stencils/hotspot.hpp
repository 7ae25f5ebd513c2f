#pragma once

// Reference of the workload hotspot: one plain time step after the other.

#include <algorithm>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::hotspot {

inline constexpr float ambient = 80.0f;

inline std::vector<float> step(const Parameters& parameters, std::span<const float> power,
                               const std::vector<float>& temperature) {
  const int width = integer(parameters, "width");
  const int height = integer(parameters, "height");
  std::vector<float> next(temperature.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto at = [&](int column, int row) {
        return temperature[std::clamp(row, 0, height - 1) * width +
                           std::clamp(column, 0, width - 1)];
      };
      const float here = at(x, y);
      const float around = (at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1));
      const float exchange = std::fma(-4.0f, here, around);
      const float heated = here + real(parameters, "heating") * power[y * width + x];
      const float spread = std::fma(real(parameters, "across"), exchange, heated);
      next[y * width + x] = std::fma(real(parameters, "loss"), ambient - here, spread);
    }
  }
  return next;
}

/// Only every `steps`-th time step reaches memory.
inline void run(const Parameters& parameters, Buffers& buffers) {
  for (int launch = 0; launch < integer(parameters, "launches"); ++launch) {
    const auto before = buffers.as<float>("temperature");
    std::vector<float> temperature(before.begin(), before.end());
    for (int i = 0; i < integer(parameters, "steps"); ++i) {
      temperature = step(parameters, buffers.as<float>("power"), temperature);
    }
    std::ranges::copy(temperature, buffers.as<float>("next").begin());
    buffers.swap("temperature", "next");
  }
}

}  // namespace lockstep::reference::hotspot
