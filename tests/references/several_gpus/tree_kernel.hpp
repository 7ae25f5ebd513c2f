#pragma once

// Reference of the workload tree_kernel.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::tree_kernel {

/// A GPU between root and leaves adds what its two children send, the lower in order first; the
/// root, GPU 0, has one child.  Trees of four GPUs: 0 - 2 - {1, 3} and 0 - 1 - {3, 2}.
inline void run(const Parameters& parameters, Buffers& buffers) {
  constexpr std::size_t gpus = 4, bytes_of_chunk = 32768, words = 4;
  struct Tree {
    std::size_t middle, first, second;
  };
  constexpr std::array<Tree, 2> trees = {Tree{2, 1, 3}, Tree{1, 3, 2}};
  const auto count = static_cast<std::size_t>(integer(parameters, "count"));
  const auto blocks = static_cast<std::size_t>(integer(parameters, "blocks"));
  // Blocks and chunks are of whole vectors of four, where the elements are.
  const std::size_t unit = count % 4 == 0 ? 4 : 1;
  const std::size_t share = (count / unit + blocks - 1) / blocks * unit;
  const std::size_t chunk = bytes_of_chunk / sizeof(float);
  std::array<std::vector<float>, gpus> before;
  for (std::size_t k = 0; k < gpus; ++k) {
    const auto data = buffers.as<float>("data" + std::to_string(k));
    before[k].assign(data.begin(), data.end());
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto [middle, first, second] = trees[block % 2];
    const std::size_t begin = std::min(count, block * share), end = std::min(count, begin + share);
    for (std::size_t i = begin; i < end; ++i) {
      const float sum = before[middle][i] + before[first][i] + before[second][i];
      const auto at_middle = buffers.as<float>("arrived" + std::to_string(middle));
      at_middle[i] = before[first][i];
      at_middle[count + i] = before[second][i];
      buffers.as<float>("arrived0")[i] = sum;
      for (std::size_t k = 0; k < gpus; ++k)
        buffers.as<float>("data" + std::to_string(k))[i] = before[0][i] + sum;
    }
    const auto sent = static_cast<std::uint32_t>((end - begin + chunk - 1) / chunk);
    const auto set = [&](std::size_t gpu, std::size_t word, std::uint32_t chunks) {
      buffers.as<std::uint32_t>("flags" + std::to_string(gpu))[words * block + word] = chunks;
    };
    for (std::size_t k = 0; k < gpus; ++k) {
      if (k == middle || k == 0) set(k, 0, sent);
      if (k == middle) set(k, 1, sent);
      if (k != 0) set(k, 2, sent);
      set(k, 3, static_cast<std::uint32_t>((share + chunk - 1) / chunk));
    }
  }
}

}  // namespace lockstep::reference::tree_kernel
