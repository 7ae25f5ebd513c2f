/// Numbers of the parts of the machine.  The type of a number says what it counts, so that a warp
/// slot cannot be passed where an SM is wanted.  Messages and records in large arrays may keep
/// plain integers; functions between classes take these types.
#pragma once

#include <cstdint>

#include "core/id/id.hpp"

namespace lockstep {

using PartitionId = Id<struct PartitionTag, std::uint16_t>;
using SmId = Id<struct SmTag, std::uint16_t>;
/// Index of a tenant in the scenario; also its address space.
using TenantId = Id<struct TenantTag, std::uint16_t>;
/// Place of a warp in its SM.
using WarpSlot = Id<struct WarpSlotTag, std::uint16_t>;
/// Place of a warp's local memory, among the places of all SMs.
using LocalHome = Id<struct LocalHomeTag, std::uint32_t>;
/// Place of a thread block in its SM.
using BlockPlace = Id<struct BlockPlaceTag, std::uint8_t>;
/// A grid, unique in the run, in launch order at the host.
using GridId = Id<struct GridTag, std::uint32_t>;
/// A tenant's buffer, by its place in the workload.
using BufferId = Id<struct BufferTag, std::uint32_t>;

}  // namespace lockstep
