#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

/// Returns a checksum of bytes that may get damaged. No change of a single word is missed, and the
/// speed is that of memory.
std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace lockstep
