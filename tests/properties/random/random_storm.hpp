/// Programs whose GPUs take pages of managed memory from each other all the time.
#pragma once

#include <cstdint>

#include "tests/properties/random/random_tenant.hpp"

namespace lockstep::testing {

/// Kernels run at the same time on two or three GPUs: each thread changes a word of its own again
/// and again, which lies between those of other GPUs' threads, reads a table that all read, and
/// adds to common words by atomics.  Between the kernels a GPU changes the table, or the CPU
/// touches buffers.
struct RandomStorm : RandomTenant {
  explicit RandomStorm(std::uint64_t seed);
};

}  // namespace lockstep::testing
