#pragma once

#include <span>

#include "models/workload/cpu/cpu_program.hpp"

namespace lockstep {

struct CpuProfile {
  const char* name;
  CpuTraffic traffic;
};

/// Returns the benchmarks of SPEC CPU2006 that 004 uses, by their misses in the last cache.
///
/// Source: 004, Table 5.3 (misses).  Row locality, bank parallelism and write share are not in 004:
/// ours, one of three kinds for each benchmark, after what section 5.1.4 says of CPU programs
/// (streams have much of the first and little of the second, random accesses the other way round).
/// A tenant may give others.
std::span<const CpuProfile> cpu_profiles();

}  // namespace lockstep
