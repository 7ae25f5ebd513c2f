#pragma once

#include <cstdint>
#include <vector>

#include "core/output/hdf5.hpp"
#include "core/parameters/node.hpp"
#include "jobs/tables.hpp"

namespace lockstep {

/// The launches of one kernel of a tenant, added up.
struct KernelSum {
  std::uint64_t launches = 0;
  KernelRow sum;
};

/// Sums the kernels of `run` by tenant; those with the longest time come first.
std::vector<std::vector<KernelSum>> sum_of_kernels(const h5::File& run, std::size_t tenants,
                                                   const Node& configuration);

}  // namespace lockstep
