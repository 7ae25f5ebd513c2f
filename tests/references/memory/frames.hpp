#pragma once

// Reference of the workload frames.

#include <algorithm>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::frames {

inline void run(const Parameters&, Buffers& buffers) {
  const auto source = buffers.as<unsigned>("source");
  const auto digest = buffers.as<unsigned>("digest");
  std::ranges::fill(source, 7u);
  std::ranges::copy(source, buffers.as<unsigned>("copied").begin());
  // Thread t reads every digest.size()-th group of four words, from the t-th.
  std::ranges::fill(digest, 0u);
  for (std::size_t i = 0; i < source.size(); ++i) digest[i / 4 % digest.size()] ^= source[i];
}

}  // namespace lockstep::reference::frames
