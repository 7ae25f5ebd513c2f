#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lockstep {

/// Overwrites registers or shared memory that no context has saved.  A program that reads such
/// bytes computes something else than the functional run.
inline void overwrite(std::span<std::byte> bytes) {
  constexpr std::uint32_t overwritten = 0xdeadbea7;
  for (std::size_t at = 0; at + sizeof overwritten <= bytes.size(); at += sizeof overwritten)
    std::memcpy(bytes.data() + at, &overwritten, sizeof overwritten);
}

}  // namespace lockstep
