/// Register rows that a warp still needs where it stops.
///
/// The warp needs the rows that are live where any of its paths stands, whether the path runs,
/// waits or has come to where paths meet: each lane has its own copy of a register, which other
/// paths do not change.  The warp also needs the operands of squashed accesses that are issued
/// again, unless they are logged.  The result of such an access is live like that of any earlier
/// instruction.
/// Source: 002, section III.B; preemption.md, section 3.2 with its errata (the union over all paths
/// of the warp, not over enclosing branches).
///
/// Simplified: the result register of a squashed load is kept even if none of its lanes has been
/// loaded.
#pragma once

#include <span>

#include "models/isa/divergence.hpp"
#include "models/sm/context/saved_access.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

RowMask needed_rows(const IssueTable& kernel, const isa::WarpPaths& paths,
                    std::span<const SavedAccess> accesses);

}  // namespace lockstep
