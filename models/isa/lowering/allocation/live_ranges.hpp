/// Live ranges with holes over the linear order of a function's operations.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Position 2n is where operation n reads, 2n + 1 where it writes.
struct LiveRange {
  struct Segment {
    std::uint32_t from, to;  ///< [from, to)
  };
  std::vector<Segment> segments;  ///< segments, ascending and apart from one another
  double weight = 0;              ///< reads and writes; those in loops count ten times per level
  bool empty() const { return segments.empty(); }
  std::uint32_t start() const { return segments.front().from; }
  std::uint32_t length() const {
    std::uint32_t sum = 0;
    for (const Segment& s : segments) sum += s.to - s.from;
    return sum;
  }
};

/// Returns the weight of a read or write in loops of this depth.
double weight_at(std::uint32_t depth);

std::vector<LiveRange> live_ranges(const ir::Function& function);

}  // namespace lockstep::isa::lowering
