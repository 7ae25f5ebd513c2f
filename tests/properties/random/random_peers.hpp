/// Random programs whose buffers and kernels are on several GPUs.
#pragma once

#include <cstdint>

#include "tests/properties/random/random_tenant.hpp"

namespace lockstep::testing {

/// A random program: device buffers lie on GPUs at random, each kernel runs on one at random and
/// loads, stores and modifies what lies on the others; managed buffers go where they are used.
/// Kernels that need each other's results run one after the other.  Its fabric is random, too.
struct RandomPeers : RandomTenant {
  explicit RandomPeers(std::uint64_t seed);
};

}  // namespace lockstep::testing
