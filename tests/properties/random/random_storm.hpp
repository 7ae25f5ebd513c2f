/// Programs whose GPUs take pages of managed memory from each other all the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::testing {

/// Kernels run at the same time on two or three GPUs: each thread changes a word of its own again
/// and again, which lies between those of other GPUs' threads, reads a table that all read, and
/// adds to common words by atomics.  Between the kernels a GPU changes the table, or the CPU
/// touches buffers.
struct RandomStorm {
  explicit RandomStorm(std::uint64_t seed);

  unsigned gpus = 2;
  std::string ptx, workload;
  std::string tenant;  ///< what a scenario says of it
  /// Settings of a machine with so many GPUs.
  std::vector<std::string> settings;
};

}  // namespace lockstep::testing
