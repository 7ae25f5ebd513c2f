#pragma once

// Reference of the workload nw: the score table row by row.

#include <algorithm>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::nw {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int length = 32 * integer(parameters, "tiles");
  const int gap = integer(parameters, "gap");
  const auto first = buffers.as<int>("first");
  const auto second = buffers.as<int>("second");
  const auto score = buffers.as<int>("score");
  const int stride = length + 1;
  for (int i = 0; i <= length; ++i) score[i] = score[i * stride] = -gap * i;
  for (int y = 1; y <= length; ++y) {
    for (int x = 1; x <= length; ++x) {
      const bool same = first[y - 1] == second[x - 1];
      const int similarity = integer(parameters, same ? "match" : "mismatch");
      const int skip = std::max(score[(y - 1) * stride + x], score[y * stride + x - 1]) - gap;
      score[y * stride + x] = std::max(score[(y - 1) * stride + x - 1] + similarity, skip);
    }
  }
}

}  // namespace lockstep::reference::nw
