#pragma once

#include <string>

#include "jobs/observe/observed_run.hpp"

namespace lockstep {

/// Returns kernels as bars, [tenant, lane, name, begin, end] in nanoseconds, as JSON; a bar within
/// a pixel of its lane that already has one is left out.
std::string kernel_bars(const ObservedRun& run, std::size_t pixels);

/// Returns the resident thread blocks of each SM: for each tenant and SM a list of runs, [count,
/// pixels], with the largest count within each pixel. JSON; null if blocks were not recorded.
std::string block_counts(const ObservedRun& run, std::size_t pixels);

}  // namespace lockstep
