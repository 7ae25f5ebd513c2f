#pragma once

// Reference of the workload ring_all_reduce.

#include <array>
#include <string>

#include "tests/references/buffers.hpp"
#include "tests/references/several_gpus/ring_sum.hpp"

namespace lockstep::reference::ring_all_reduce {

inline void run(const Parameters& parameters, Buffers& buffers) {
  std::array<std::span<float>, 4> data, arrived;
  for (std::size_t k = 0; k < data.size(); ++k) {
    data[k] = buffers.as<float>("data" + std::to_string(k));
    arrived[k] = buffers.as<float>("arrived" + std::to_string(k));
  }
  sum_in_ring(data, arrived, data.size() * static_cast<std::size_t>(integer(parameters, "part")));
}

}  // namespace lockstep::reference::ring_all_reduce
