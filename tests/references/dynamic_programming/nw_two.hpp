#pragma once

// Reference of the workload nw_two: the score table row by row.

#include <algorithm>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::nw_two {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int length = 16 * integer(parameters, "tiles");
  const int gap = integer(parameters, "gap");
  const int stride = length + 1;
  const auto score = buffers.as<int>("score");
  const auto similarity = buffers.as<int>("similarity");
  for (int i = 0; i <= length; ++i) score[i] = score[i * stride] = -gap * i;
  for (int y = 0; y < length; ++y) {
    for (int x = 0; x < length; ++x) {
      const int skip = std::max(score[y * stride + x + 1], score[(y + 1) * stride + x]) - gap;
      score[(y + 1) * stride + x + 1] =
          std::max(score[y * stride + x] + similarity[y * length + x], skip);
    }
  }
}

}  // namespace lockstep::reference::nw_two
