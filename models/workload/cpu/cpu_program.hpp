/// Program of a tenant on a CPU core: `cpu:` of a tenant, instead of a workload or together with
/// one.
///
/// The program is either the traffic of a benchmark behind its caches, by a profile
/// (cpu_profiles.hpp), or a trace of its misses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/parameters/node.hpp"
#include "models/workload/cpu/cpu_keys.hpp"

namespace lockstep {

inline constexpr std::uint64_t cpu_line_bytes = 64;

/// An access of a trace.
struct TracedAccess {
  std::uint64_t instruction = 0;  ///< number of the instruction in the trace
  std::uint64_t offset = 0;       ///< offset of the line in the tenant's memory
  bool write = false;
};

struct CpuProgram : CpuKeys {
  std::string where;
  std::shared_ptr<const std::vector<TracedAccess>> trace;
  std::uint64_t trace_instructions = 0;
};

/// Reads `cpu:`.  Throws UserError.
CpuProgram read_cpu_program(const Node& node);

/// Reads a trace with a line for each miss: `instructions read-address [written-address]`.  These
/// are the number of instructions without a miss before it, the address that it reads, and the
/// address of a line that leaves the cache then.  Addresses count from 0 in the tenant's memory,
/// decimal or 0x...; a # begins a comment.  Throws UserError.
void read_cpu_trace(const std::string& file, const std::string& where, CpuProgram& program);

}  // namespace lockstep
