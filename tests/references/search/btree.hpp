#pragma once

// Reference of the workload btree: binary search in the sorted keys.

#include <algorithm>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::btree {

inline void run(const Parameters&, Buffers& buffers) {
  const auto key = buffers.as<unsigned>("key");
  const auto value = buffers.as<unsigned>("value");
  const auto query = buffers.as<unsigned>("query");
  const auto node = buffers.as<unsigned>("node");
  const auto found = buffers.as<unsigned>("found");
  std::size_t entry = 0;
  for (std::size_t stride = 1; key.size() / stride >= 16; stride *= 16) {
    for (std::size_t i = 0; i < key.size(); i += stride) node[entry++] = key[i];
  }
  for (std::size_t q = 0; q < query.size(); ++q) {
    const auto at = std::ranges::lower_bound(key, query[q]);
    const bool present = at != key.end() && *at == query[q];
    found[q] = present ? value[at - key.begin()] : 0xffffffffu;
  }
}

}  // namespace lockstep::reference::btree
