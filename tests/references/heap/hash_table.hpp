#pragma once

// Reference of the workload hash_table: a multimap.

#include <map>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::hash_table {

inline void run(const Parameters&, Buffers& buffers) {
  const auto key = buffers.as<unsigned>("key"), value = buffers.as<unsigned>("value");
  const auto query = buffers.as<unsigned>("query");
  std::multimap<unsigned, unsigned> pairs;
  for (std::size_t i = 0; i < key.size(); ++i) pairs.emplace(key[i], value[i]);
  for (std::size_t i = 0; i < query.size(); ++i) {
    const auto [first, end] = pairs.equal_range(query[i]);
    for (auto pair = first; pair != end; ++pair) {
      ++buffers.as<unsigned>("found")[i];
      buffers.as<unsigned>("sum")[i] += pair->second;
    }
  }
}

}  // namespace lockstep::reference::hash_table
