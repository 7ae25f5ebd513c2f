/// Random virtual memory: how buffers are placed, how little GPU memory there is, which policies
/// move pages, and a host that touches them while kernels run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::testing {

/// A random machine with settings of translation, fault handling, prefetching and eviction, and a
/// GPU memory that holds between a few pages and everything of so many tenants beside their page
/// tables.  Epochs are short: at their ends page tables are looked at.
std::vector<std::string> random_paged_machine(std::uint64_t seed, unsigned tenants);

/// The workload with its device buffers managed, and with steps between its launches that touch,
/// prefetch and advise buffers at random; its result is the same.
std::string with_managed_memory(const std::string& workload, std::uint64_t seed);

}  // namespace lockstep::testing
