#pragma once

#include <cstddef>
#include <span>

#include "models/noc/messages.hpp"

namespace lockstep {

/// Executes an atomic request on its line, lane after lane.  `records`: the request's payload;
/// `old` gets 8 bytes per record.  A line of host memory may end early: what lies beyond is left
/// out and reads as zero.  Source: architecture.md, section 3 (atomics execute at the L2); the
/// order of the lanes is an own choice.
void modify_lanes(const MemoryRequest& request, const std::byte* records, std::span<std::byte> line,
                  std::byte* old);

}  // namespace lockstep
