#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

/// Returns a checksum of bytes. It detects every change of a single word, and is as fast as memory.
std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace lockstep
