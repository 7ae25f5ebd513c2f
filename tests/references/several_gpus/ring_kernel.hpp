#pragma once

// Reference of the workload ring_kernel.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::ring_kernel {

/// A part begins at the GPU behind its own; each GPU adds its own elements and sends the sum on.
inline void run(const Parameters& parameters, Buffers& buffers) {
  constexpr std::size_t gpus = 4, rounds = 2 * (gpus - 1), slices = 2;
  const auto part = static_cast<std::size_t>(integer(parameters, "part"));
  std::array<std::vector<float>, gpus> before;
  for (std::size_t k = 0; k < gpus; ++k) {
    const auto data = buffers.as<float>("data" + std::to_string(k));
    before[k].assign(data.begin(), data.end());
  }
  const auto sum_of = [&](std::size_t number, std::size_t i, std::size_t summands) {
    const std::size_t at = number * part + i;
    float sum = before[(number + 1) % gpus][at];
    for (std::size_t m = 2; m <= summands; ++m) sum += before[(number + m) % gpus][at];
    return sum;
  };
  for (std::size_t k = 0; k < gpus; ++k) {
    const auto data = buffers.as<float>("data" + std::to_string(k));
    const auto arrived = buffers.as<float>("arrived" + std::to_string(k));
    for (std::size_t i = 0; i < part; ++i) {
      for (std::size_t r = 0; r + 1 < gpus; ++r)
        arrived[r * part + i] = sum_of((k + 2 * gpus - r - 2) % gpus, i, r + 1);
      for (std::size_t number = 0; number < gpus; ++number)
        data[number * part + i] = sum_of(number, i, gpus);
    }
    for (std::uint32_t& flag : buffers.as<std::uint32_t>("flags" + std::to_string(k)))
      flag = rounds * slices;
  }
}

}  // namespace lockstep::reference::ring_kernel
