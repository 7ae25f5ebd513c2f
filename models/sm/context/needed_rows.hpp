/// Rows of registers that a warp needs again when it stops where it stands.
///
/// The warp needs the rows that are live where any of its paths stands, whether the path runs,
/// waits or has come to where paths meet: each lane has its own copy of a register, so that what
/// another path writes is none of its business.  The warp also needs the operands of squashed
/// accesses that are issued again, unless they are logged; what such an access loads is live like
/// the result of any instruction before.
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
