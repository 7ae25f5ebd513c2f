#pragma once

// Reference of the workload persistent.

#include <cstdint>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::persistent {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto steps = buffers.as<unsigned>("steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::uint64_t value = i + 1;
    for (steps[i] = 0; value != 1; ++steps[i]) {
      value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    }
  }
  // Every block asks once more than it gets.
  const unsigned block = static_cast<unsigned>(integer(parameters, "block"));
  const unsigned chunks = (static_cast<unsigned>(steps.size()) + block - 1) / block;
  buffers.as<unsigned>("next_chunk")[0] =
      chunks + static_cast<unsigned>(integer(parameters, "blocks"));
}

}  // namespace lockstep::reference::persistent
