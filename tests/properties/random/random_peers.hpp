/// Random programs whose buffers and kernels are on several GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::testing {

/// A random program: device buffers lie on GPUs at random, each kernel runs on one at random and
/// loads, stores and modifies what lies on the others; managed buffers go where they are used.
/// Kernels that need each other's results run one after the other.
struct RandomPeers {
  explicit RandomPeers(std::uint64_t seed);

  unsigned gpus = 2;
  std::string ptx, workload;
  std::string tenant;  ///< what a scenario says of it
  /// Settings of a machine with so many GPUs and a random fabric.
  std::vector<std::string> settings;
};

}  // namespace lockstep::testing
