/// Swizzles of shared memory: 16-byte pieces change places within 128, 256 or 512 bytes so that
/// rows that are read together lie in different banks. Source: PTX ISA 9.0, "Tensor Swizzling
/// Modes"; modern-isa.md, section 3.3.
#pragma once

#include <cstdint>

namespace lockstep::isa {

/// Span in bytes within which pieces are permuted; `none`: they are not.
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128, count };

constexpr std::uint32_t span_of(Swizzle swizzle) {
  return 16U << static_cast<unsigned>(swizzle);
}
/// Returns the place in shared memory of a byte that would lie at the address without a swizzle.
constexpr std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle) {
  const std::uint32_t mask = (1U << static_cast<unsigned>(swizzle)) - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

}  // namespace lockstep::isa
