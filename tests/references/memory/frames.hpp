#pragma once

// Reference of the workload frames.

#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::frames {

/// Word `place` of four after `work` multiply-adds.
inline unsigned worked(unsigned bits, std::size_t place, int work) {
  auto value = std::bit_cast<float>(bits);
  for (int k = 0; k < work; ++k) value = std::fma(value, 0.5f, static_cast<float>(place + 1));
  return std::bit_cast<unsigned>(value);
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto source = buffers.as<unsigned>("source"), copied = buffers.as<unsigned>("copied");
  const auto digest = buffers.as<unsigned>("digest");
  const int work = integer(parameters, "work");
  std::ranges::fill(source, 7u);
  // Thread t reads every digest.size()-th group of four words, from the t-th.
  std::ranges::fill(digest, 0u);
  for (std::size_t i = 0; i < source.size(); ++i) {
    copied[i] = worked(source[i], i % 4, work);
    digest[i / 4 % digest.size()] ^= worked(copied[i], i % 4, work);
  }
}

}  // namespace lockstep::reference::frames
