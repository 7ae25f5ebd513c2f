#pragma once

// Reference of the workload btree_range: binary search in the sorted keys.

#include <algorithm>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::btree_range {

inline void run(const Parameters&, Buffers& buffers) {
  const auto key = buffers.as<unsigned>("key");
  const auto low = buffers.as<unsigned>("low");
  const auto span = buffers.as<unsigned>("span");
  const auto node = buffers.as<unsigned>("node");
  std::size_t entry = 0;
  for (std::size_t stride = 1; key.size() / stride >= 64; stride *= 64) {
    for (std::size_t i = 0; i < key.size(); i += stride) node[entry++] = key[i];
  }
  for (std::size_t r = 0; r < low.size(); ++r) {
    const auto begin = std::ranges::lower_bound(key, low[r]);
    const auto end = std::ranges::upper_bound(key, low[r] + span[r]);
    buffers.as<unsigned>("first")[r] = static_cast<unsigned>(begin - key.begin());
    buffers.as<unsigned>("length")[r] = static_cast<unsigned>(end - begin);
  }
}

}  // namespace lockstep::reference::btree_range
