#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

/// Neighbouring frames.
struct FrameRun {
  std::uint64_t physical = 0;
  std::uint64_t bytes = 0;

  bool operator==(const FrameRun&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(physical, bytes);
  }
};

/// Puts a frame, or part of one, behind `runs`, in one with the last of them if they are
/// neighbours.
inline void append_frame(std::vector<FrameRun>& runs, std::uint64_t physical, std::uint64_t bytes) {
  if (!runs.empty() && runs.back().physical + runs.back().bytes == physical) {
    runs.back().bytes += bytes;
  } else {
    runs.push_back({physical, bytes});
  }
}

}  // namespace lockstep
