#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

/// Checksum of bytes that may get damaged; no change of a single word is missed.  As fast as
/// memory.
std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace lockstep
