#include "models/gpu/placed_tenants.hpp"

#include "models/driver/page_manager/page_manager.hpp"
#include "models/gpu/oversubscription.hpp"
#include "models/gpu/placement/placement.hpp"

namespace lockstep {
namespace {

/// Returns the bytes of GPU memory that hold all of the tenant, page tables included.
std::uint64_t bytes_on_gpu(const Tenant& tenant) {
  if (tenant.cpu) return tenant.cpu->memory.count();
  const Footprint footprint = footprint_of(tenant);
  const std::uint64_t pages =
      (footprint.device + footprint.managed + footprint.pinned) / page_bytes;
  // Each buffer may begin a page table.
  const std::uint64_t buffers = tenant.workload.buffers.size();
  return footprint.device + footprint.managed + PageManager::table_bytes(pages) +
         buffers * page_bytes;
}

void add_to(GpuLoad& gpu, const Tenant& tenant) {
  gpu.taken += bytes_on_gpu(tenant);
  ++gpu.tenants;
}

}  // namespace

std::vector<std::uint32_t> place_tenants(const Scenario& scenario,
                                         const MachineParameters& machine) {
  std::vector<GpuLoad> gpus;
  for (const GpuParameters& gpu : machine.gpus) gpus.push_back({gpu.memory.capacity.count(), 0, 0});
  if (gpus.empty()) return std::vector<std::uint32_t>(scenario.tenants.size());
  std::vector<std::uint32_t> places;
  for (const Tenant& tenant : scenario.tenants) {
    places.push_back(tenant.gpu);
    if (tenant.gpu != TenantKeys::any_gpu) add_to(gpus[tenant.gpu], tenant);
    for (std::uint32_t member = 1; member < tenant.gpus.size(); ++member) {
      Tenant there = tenant;
      there.member = member;
      add_to(gpus[tenant.gpus[member]], there);
    }
  }
  const auto placement = make_placement(machine.policies.placement);
  for (std::uint32_t t = 0; t < places.size(); ++t) {
    const Tenant& tenant = scenario.tenants[t];
    if (tenant.gpu != TenantKeys::any_gpu) continue;
    places[t] = placement->choose(gpus, {t, bytes_on_gpu(tenant), machine.simulation.seed});
    LOCKSTEP_CHECK(places[t] < gpus.size(), "a tenant was placed on a GPU that is not there");
    add_to(gpus[places[t]], tenant);
  }
  return places;
}

}  // namespace lockstep
