#pragma once

#include <cstdint>
#include <random>

#include "models/noc/messages.hpp"
#include "models/sm/access/coalescer.hpp"

namespace lockstep {

/// Returns aligned addresses of lanes with so many bytes each: runs of consecutive addresses that
/// begin anywhere in a few lines.
inline LaneAddresses addresses_in_runs(std::mt19937& random, unsigned bytes, unsigned lines) {
  const unsigned usual_run = 1 + random() % 32;
  LaneAddresses address;
  for (unsigned lane = 0; lane < 32; ++lane)
    address[lane] = lane % usual_run != 0
                        ? address[lane - 1] + bytes
                        : 0x4000 + random() % (lines * line_bytes) / bytes * bytes;
  return address;
}

}  // namespace lockstep
