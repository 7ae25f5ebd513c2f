#pragma once

// Reference of the workload reduction. A float sum depends on the order of additions: the order
// here is the kernel's - per thread over the grid's stride, then halving trees over lanes and
// warps.

#include <algorithm>
#include <array>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::reduction {

/// Sum of 32 lanes: lane i takes lane i + distance, for distance 16 to 1.
inline float lane_tree(std::array<float, 32> lanes) {
  for (int distance = 16; distance > 0; distance /= 2) {
    for (int lane = 0; lane < distance; ++lane) lanes[lane] += lanes[lane + distance];
  }
  return lanes[0];
}

inline void reduce_sum(std::span<const float> in, std::span<float> out, int block) {
  const int blocks = static_cast<int>(out.size());
  const std::size_t stride = static_cast<std::size_t>(blocks) * block;
  for (int b = 0; b < blocks; ++b) {
    std::array<float, 32> of_warp{};
    for (int warp = 0; warp < block / 32; ++warp) {
      std::array<float, 32> lanes{};
      for (int lane = 0; lane < 32; ++lane) {
        const std::size_t first = static_cast<std::size_t>(b) * block + warp * 32 + lane;
        for (std::size_t i = first; i < in.size(); i += stride) lanes[lane] += in[i];
      }
      of_warp[warp] = lane_tree(lanes);
    }
    out[b] = lane_tree(of_warp);
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int block = integer(parameters, "block");
  reduce_sum(buffers.as<float>("values"), buffers.as<float>("partial"), block);
  reduce_sum(buffers.as<float>("partial"), buffers.as<float>("sum"), block);
  const auto integers = buffers.as<int>("integers");
  const auto largest = buffers.as<int>("largest");
  for (const int value : integers) largest[0] = std::max(largest[0], value);
}

}  // namespace lockstep::reference::reduction
