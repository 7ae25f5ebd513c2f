#pragma once

#include <cstdint>
#include <vector>

#include "models/noc/address.hpp"

namespace lockstep {

/// Neighbouring frames.
struct FrameRun {
  std::uint64_t physical = 0;
  std::uint64_t bytes = 0;

  PhysicalAddress begin() const { return PhysicalAddress{physical}; }
  PhysicalAddress end() const { return begin() + bytes; }
  bool operator==(const FrameRun&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(physical, bytes);
  }
};

/// Appends a frame, or part of one, to `runs`; it extends the last run if they are neighbours.
inline void append_frame(std::vector<FrameRun>& runs, PhysicalAddress begin, std::uint64_t bytes) {
  if (!runs.empty() && runs.back().end() == begin) {
    runs.back().bytes += bytes;
  } else {
    runs.push_back({begin.value(), bytes});
  }
}

}  // namespace lockstep
