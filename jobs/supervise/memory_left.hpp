#pragma once

#include <cstdint>

namespace lockstep {

/// Returns the bytes of memory that this computer and the control groups around this process still
/// allow; the largest number if unknown.  Source: Linux, /proc/meminfo and control groups.
std::uint64_t memory_left();

}  // namespace lockstep
