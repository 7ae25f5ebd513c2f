#pragma once

// Reference of the workload ring_all_reduce.

#include <array>
#include <string>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::ring_all_reduce {

/// Part c grows on its way from GPU c over the next three; each keeps what has arrived last.
inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto part = static_cast<std::size_t>(integer(parameters, "part"));
  constexpr std::size_t gpus = 4;
  std::array<std::span<float>, gpus> data, arrived;
  for (std::size_t k = 0; k < gpus; ++k) {
    data[k] = buffers.as<float>("data" + std::to_string(k));
    arrived[k] = buffers.as<float>("arrived" + std::to_string(k));
  }
  for (std::size_t c = 0; c < gpus; ++c) {
    for (std::size_t i = 0; i < part; ++i) {
      const std::size_t at = c * part + i;
      float sum = data[c][at];
      for (std::size_t step = 1; step < gpus; ++step) {
        if (step + 1 == gpus) arrived[(c + step) % gpus][i] = sum;
        sum += data[(c + step) % gpus][at];
      }
      for (const std::span<float>& each : data) each[at] = sum;
    }
  }
}

}  // namespace lockstep::reference::ring_all_reduce
