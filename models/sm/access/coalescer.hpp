/// Groups the lanes of a memory instruction by 128-byte line and 32-byte sector.
///
/// Every distinct line is one tag lookup and at most one request with a sector mask.  Lines go out
/// in the order of their first lanes.
/// Source: gpu-parameters.md, section 1 "Coalescer" (32-byte sectors from Maxwell on).
///
/// Simplified: the whole warp is coalesced at once; hardware coalesces 8 threads at a time.
#pragma once

#include <array>
#include <cstdint>

#include "models/sm/access/access.hpp"

namespace lockstep {

using LaneAddresses = std::array<std::uint64_t, 32>;

/// Fills lanes, lines, sectors and offsets of `access` for `bytes` bytes at each active lane's
/// address.  No lane's bytes may cross a sector (natural alignment sees to it).
void coalesce(Access& access, const LaneAddresses& address, unsigned bytes);

/// Returns whether the 32 lanes' 64-bit addresses follow each other, `bytes` apart.
bool are_consecutive(const std::uint32_t* addresses, unsigned bytes);

/// Does what `coalesce` would do for 32 active lanes at consecutive addresses from `base` on.
void coalesce_consecutive(Access& access, std::uint64_t base, unsigned bytes);

/// Splits the groups of more than 16 lanes: an atomic request has room for 16 lanes with 16 bytes
/// each.
void halve_large_groups(Access& access);

}  // namespace lockstep
