#pragma once

#include <cstdint>

#include "core/parameters/policy.hpp"

namespace lockstep {

/// Returns the key `policies.block_switching`.
const PolicyList& block_switching_policies();

/// Blocks of an SM that the policy lets stand in memory; 0: none ever leaves.
std::uint32_t extra_blocks_of(const PolicyChoice& choice);

}  // namespace lockstep
