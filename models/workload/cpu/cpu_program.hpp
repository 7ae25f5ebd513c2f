/// Program of a tenant on a CPU core: `cpu:` of a tenant, beside or instead of a workload.
///
/// Either the traffic of a benchmark behind its caches, by a profile (cpu_profiles.hpp), or a trace
/// of its misses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/parameters/node.hpp"

namespace lockstep {

inline constexpr std::uint64_t cpu_line_bytes = 64;

/// How a program misses its caches.  Source: memory-interference.md, sections 1.4 and 4.5.
struct CpuTraffic {
  double misses = 0;            ///< lines read, in a thousand instructions
  double row_locality = 0;      ///< share of requests that find their row open, alone
  double bank_parallelism = 0;  ///< banks with reads of it while it has any, alone
  double write_share = 0;       ///< of all its requests
};

/// An access of a trace.
struct TracedAccess {
  std::uint64_t instruction = 0;  ///< its number in the trace
  std::uint64_t offset = 0;       ///< of its line in the tenant's memory
  bool write = false;
};

struct CpuProgram {
  std::string where;
  std::string profile;  ///< "": a trace
  CpuTraffic traffic;   ///< of a profile
  std::string trace_file;
  std::shared_ptr<const std::vector<TracedAccess>> trace;
  std::uint64_t trace_instructions = 0;
  std::uint64_t memory_bytes = 0;  ///< that it may touch
};

/// Reads `cpu:`.  Throws UserError.
CpuProgram read_cpu_program(const Node& node);

/// A trace: a line for each miss, `instructions read-address [written-address]`: how many
/// instructions that miss nothing go before it, the address that it reads, and that of a line that
/// leaves the cache then.  Addresses count from 0 in the tenant's memory, decimal or 0x...; what
/// follows a # is ignored.  Throws UserError.
void read_cpu_trace(const std::string& file, const std::string& where, CpuProgram& program);

}  // namespace lockstep
