#pragma once

#include "models/driver/managed/migrations.hpp"

namespace lockstep {

/// What the driver has to map so that the pages of a migration stand in `frames`: runs of pages
/// with content at the host are moved, the others read as zero.  Counts both.
MapRequest migration_request(const Migration& migration, std::vector<FrameRun> frames,
                             const ManagedPages& pages, const BufferDirectory& directory,
                             const HostCycle& cycle);

}  // namespace lockstep
