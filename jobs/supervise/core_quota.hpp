#pragma once

#include <limits>

namespace lockstep {

inline constexpr int no_core_quota = std::numeric_limits<int>::max();

/// Returns the whole cores that control groups allow this process to keep busy, at least one: the
/// least of cpu.max (version 2) and cpu.cfs_quota_us (version 1) of its group and the parents.
/// Source: Linux control groups.
int core_quota();

}  // namespace lockstep
