#pragma once

// Reference of the workload peer_gather.

#include <cstdint>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::peer_gather {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto bins = static_cast<std::uint32_t>(integer(parameters, "bins"));
  const auto table = buffers.as<float>("table");
  const auto changed = buffers.as<float>("changed");
  const auto gathered = buffers.as<float>("gathered");
  const auto counts = buffers.as<std::uint32_t>("counts");
  const auto index = buffers.as<std::uint32_t>("index");
  for (std::size_t i = 0; i < index.size(); ++i) {
    gathered[i] = table[index[i]];
    changed[index[i]] = 2 * gathered[i];
    ++counts[index[i] % bins];
  }
}

}  // namespace lockstep::reference::peer_gather
