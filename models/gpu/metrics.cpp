#include "models/gpu/metrics.hpp"

#include <algorithm>

namespace lockstep {

double weighted_speedup(std::span<const TenantSpeed> tenants) {
  return weighted_speedup(tenants, 1);
}

double weighted_speedup(std::span<const TenantSpeed> tenants, double gpu_weight) {
  double sum = 0;
  for (const TenantSpeed& tenant : tenants)
    sum += tenant.shared / tenant.alone * (tenant.on_cpu ? 1 : gpu_weight);
  return sum;
}

double harmonic_speedup(std::span<const TenantSpeed> tenants) {
  double sum = 0;
  for (const TenantSpeed& tenant : tenants) sum += tenant.slowdown();
  return static_cast<double>(tenants.size()) / sum;
}

double maximum_slowdown(std::span<const TenantSpeed> tenants) {
  double most = 0;
  for (const TenantSpeed& tenant : tenants) most = std::max(most, tenant.slowdown());
  return most;
}

double ipc_throughput(std::span<const TenantSpeed> tenants) {
  double sum = 0;
  for (const TenantSpeed& tenant : tenants) sum += tenant.shared;
  return sum;
}

}  // namespace lockstep
