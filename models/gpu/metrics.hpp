/// Metrics of how well tenants that share a GPU fare, from their instructions per cycle alone and
/// shared.
///
/// Source: 004, sections 4.4 (harmonic speedup), 5.3.5 (unfairness), 6.5 and 7.4 (weighted
/// speedup), 6.6.1 (IPC throughput), Equation 5.1 (CPU+GPU weighted speedup); harmonic speedup in
/// its form for several programs.
#pragma once

#include <span>

namespace lockstep {

/// Instructions per cycle of one tenant, together with others and alone: of its warps and SMs, or
/// of its CPU core; both positive.
struct TenantSpeed {
  double alone = 0, shared = 0;
  bool on_cpu = false;

  double slowdown() const { return alone / shared; }
};

/// Returns the sum of the speedups shared / alone: as many tenants' worth of work is done.
double weighted_speedup(std::span<const TenantSpeed> tenants);
/// Returns the weighted sum of the speedups: tenants on the GPU count with `gpu_weight`, those on
/// CPU cores with 1.
double weighted_speedup(std::span<const TenantSpeed> tenants, double gpu_weight);
/// Returns the harmonic mean of the speedups, which is low when one of them is low.
double harmonic_speedup(std::span<const TenantSpeed> tenants);
/// Returns the slowdown of the tenant that suffers most; also called unfairness.
double maximum_slowdown(std::span<const TenantSpeed> tenants);
/// Returns the sum of the instructions that all tenants execute per cycle, however they are
/// distributed.
double ipc_throughput(std::span<const TenantSpeed> tenants);

}  // namespace lockstep
