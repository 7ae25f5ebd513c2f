#pragma once

#include "models/driver/managed/migrations.hpp"

namespace lockstep {

/// Returns the part [from, from + bytes) of the memory in `frames`, taken in order.
std::vector<FrameRun> part_of(const std::vector<FrameRun>& frames, std::uint64_t from,
                              std::uint64_t bytes);

/// Returns the mapping that puts the pages of a migration into `frames`: runs of pages with content
/// at the host are moved, the others read as zero.  Counts both.
MapRequest migration_request(const Migration& migration, std::vector<FrameRun> frames,
                             const ManagedPages& pages, const BufferDirectory& directory,
                             const HostCycle& cycle);

}  // namespace lockstep
