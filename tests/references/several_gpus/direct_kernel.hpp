#pragma once

// Reference of the workload direct_kernel.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::direct_kernel {

/// A GPU adds to its own elements of its part those of the GPU before it, then of the one before
/// that, and so on, and sends the sums to all others.
inline void run(const Parameters& parameters, Buffers& buffers) {
  constexpr std::size_t gpus = 4, slices = 2;
  const auto part = static_cast<std::size_t>(integer(parameters, "part"));
  std::array<std::vector<float>, gpus> before;
  for (std::size_t k = 0; k < gpus; ++k) {
    const auto data = buffers.as<float>("data" + std::to_string(k));
    before[k].assign(data.begin(), data.end());
  }
  for (std::size_t k = 0; k < gpus; ++k) {
    const auto arrived = buffers.as<float>("arrived" + std::to_string(k));
    for (std::size_t i = 0; i < part; ++i) {
      const std::size_t at = k * part + i;
      float sum = before[k][at];
      for (std::size_t place = 0; place + 1 < gpus; ++place) {
        arrived[place * part + i] = before[(k + gpus - place - 1) % gpus][at];
        sum += arrived[place * part + i];
      }
      for (std::size_t other = 0; other < gpus; ++other)
        buffers.as<float>("data" + std::to_string(other))[at] = sum;
    }
    // Two times all slices: of what is added, and of sums.
    for (std::uint32_t& flag : buffers.as<std::uint32_t>("flags" + std::to_string(k)))
      flag = 2 * slices;
  }
}

}  // namespace lockstep::reference::direct_kernel
