#pragma once

#include <string>

#include "jobs/observe/observed_run.hpp"

namespace lockstep {

/// Kernels as bars, [tenant, lane, name, begin, end] in nanoseconds; a bar within a pixel of its
/// lane that has one already is left out.  JSON.
std::string kernel_bars(const ObservedRun& run, std::size_t pixels);

/// Returns the resident thread blocks of each SM: per tenant and SM a list of runs, [count,
/// pixels], of the largest count within each pixel. JSON; null if blocks were not recorded.
std::string block_counts(const ObservedRun& run, std::size_t pixels);

}  // namespace lockstep
