#pragma once

#include <cstdint>

namespace lockstep {

/// Bytes of memory that this computer and the control groups around this process still give it; the
/// largest number if nobody tells.  Source: Linux, /proc/meminfo and control groups.
std::uint64_t memory_left();

}  // namespace lockstep
