#pragma once

// Sums of an all-reduce in a ring of four GPUs.

#include <array>
#include <cstddef>
#include <span>

namespace lockstep::reference {

/// Part c grows on its way from GPU c + start over the next three; each keeps what has arrived
/// last.
inline void sum_in_ring(const std::array<std::span<float>, 4>& data,
                        const std::array<std::span<float>, 4>& arrived, std::size_t count,
                        std::size_t start = 0) {
  constexpr std::size_t gpus = 4;
  const std::size_t part = count / gpus;
  for (std::size_t c = 0; c < gpus; ++c) {
    for (std::size_t i = 0; i < part; ++i) {
      const std::size_t at = c * part + i;
      float sum = data[(c + start) % gpus][at];
      for (std::size_t step = 1; step < gpus; ++step) {
        const std::size_t gpu = (c + start + step) % gpus;
        if (step + 1 == gpus) arrived[gpu][i] = sum;
        sum += data[gpu][at];
      }
      for (const std::span<float>& each : data) each[at] = sum;
    }
  }
}

}  // namespace lockstep::reference
