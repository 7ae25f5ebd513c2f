#pragma once

// Reference of the workload halo_exchange.

#include <string>
#include <vector>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::halo_exchange {

/// The slabs are one field; beyond its edges stands what is there.
inline void run(const Parameters& parameters, Buffers& buffers) {
  const int width = integer(parameters, "width"), height = integer(parameters, "height");
  constexpr int gpus = 4;
  const auto slab = [&](int k) { return "slab" + std::to_string(k); };
  const auto next = [&](int k) { return "next" + std::to_string(k); };
  for (int step = 0; step < integer(parameters, "steps"); ++step) {
    const auto at = [&](int x, int y) {
      return buffers.as<float>(slab(y / height))[static_cast<std::size_t>(y % height * width + x)];
    };
    for (int y = 0; y < gpus * height; ++y) {
      for (int x = 0; x < width; ++x) {
        const float here = at(x, y);
        const float left = x > 0 ? at(x - 1, y) : here;
        const float right = x + 1 < width ? at(x + 1, y) : here;
        const float up = y > 0 ? at(x, y - 1) : here;
        const float down = y + 1 < gpus * height ? at(x, y + 1) : here;
        buffers.as<float>(next(y / height))[static_cast<std::size_t>(y % height * width + x)] =
            0.2f * (here + left + right + up + down);
      }
    }
    for (int k = 0; k < gpus; ++k) buffers.swap(slab(k), next(k));
  }
}

}  // namespace lockstep::reference::halo_exchange
