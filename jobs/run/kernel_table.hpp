#pragma once

#include <string>
#include <vector>

#include "jobs/observe/kernel_sums.hpp"

namespace lockstep {

/// Returns the part of a run's table on a tenant's kernels, in lines of 80 columns.
std::string kernel_table(const std::vector<KernelSum>& kernels);

}  // namespace lockstep
