#pragma once

// Reference of the workload linked_lists: what the words of each list add up to.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::linked_lists {

inline unsigned mix(unsigned value) {
  value = (value ^ value >> 16) * 0x7feb352du;
  value = (value ^ value >> 15) * 0x846ca68bu;
  return value ^ value >> 16;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto length = static_cast<unsigned>(integer(parameters, "length"));
  const auto words = static_cast<unsigned>(integer(parameters, "words"));
  const int rounds = integer(parameters, "rounds");
  const auto sum = buffers.as<unsigned>("sum"), nodes = buffers.as<unsigned>("nodes");
  for (unsigned i = 0; i < sum.size(); ++i) {
    for (unsigned place = 0; place < length; ++place) {
      const bool replaced = rounds > 0 && place % 2 == 1;
      const unsigned seed = replaced ? ~(i * length * words) - place / 2 * words
                                     : (i * length + length - 1 - place) * words;
      for (unsigned w = 0; w < words; ++w) sum[i] += mix(mix(seed + w) + place + 1);
    }
    nodes[i] = length;
  }
}

}  // namespace lockstep::reference::linked_lists
