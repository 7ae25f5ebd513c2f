#pragma once

// Reference of the workload urgent: each block's words, round by round.

#include <array>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::urgent {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto in = buffers.as<unsigned>("in"), out = buffers.as<unsigned>("out");
  for (std::size_t first = 0; first < in.size(); first += 256) {
    std::array<unsigned, 512> word;
    for (unsigned t = 0; t < 256; ++t) {
      word[t] = in[first + t];
      word[t + 256] = t;
    }
    for (int round = 0; round < integer(parameters, "rounds"); ++round) {
      const std::array<unsigned, 512> before = word;
      for (unsigned t = 0; t < 256; ++t) {
        const unsigned a = before[(t * 5 + round) % 512], b = before[(t * 3 + 1) % 512];
        word[t] = a * 1664525u + b;
        word[t + 256] = b ^ (a >> 7);
      }
    }
    for (unsigned t = 0; t < 256; ++t) out[first + t] = word[t] ^ word[t + 256];
  }
}

}  // namespace lockstep::reference::urgent
