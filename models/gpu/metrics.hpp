/// How well tenants that share a GPU fare, from their instructions per cycle alone and shared.
///
/// Source: 004, sections 4.4 (harmonic speedup), 5.3.5 (unfairness), 6.5 and 7.4 (weighted
/// speedup), 6.6.1 (IPC throughput); harmonic speedup in its form for several programs.
#pragma once

#include <span>

namespace lockstep {

/// Warp instructions per core cycle of one tenant; both positive.
struct TenantSpeed {
  double alone = 0, shared = 0;

  double slowdown() const { return alone / shared; }
};

/// Sum of the speedups shared / alone: as many tenants' worth of work is done.
double weighted_speedup(std::span<const TenantSpeed> tenants);
/// Harmonic mean of the speedups: low when one of them is.
double harmonic_speedup(std::span<const TenantSpeed> tenants);
/// The slowdown of who suffers most; also called unfairness.
double maximum_slowdown(std::span<const TenantSpeed> tenants);
/// Sum of what all execute per cycle, however it is distributed.
double ipc_throughput(std::span<const TenantSpeed> tenants);

}  // namespace lockstep
