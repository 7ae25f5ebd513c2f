#include "models/gpu/memory_check.hpp"

#include <set>

#include "core/error/error.hpp"
#include "models/fragmentation/foreign_pages.hpp"

namespace lockstep {

namespace {

/// Returns the place in the scenario of a plug point's policy, or of the missing key.
std::string place_of(const Scenario& scenario, const char* plug_point) {
  if (!scenario.policies.exists()) return scenario.gpu.where();
  const Node given = scenario.policies.find(plug_point);
  return given.exists() ? given.where() : scenario.policies.where();
}

template <class Registry>
void check_policy(const Scenario& scenario, const MachineParameters& parameters,
                  const Registry& registry, const PolicyChoice& choice, const char* plug_point) {
  const auto objection = registry.factory(choice).objection;
  if (objection == nullptr) return;
  const std::string wrong = objection(parameters.gpu.memory);
  if (!wrong.empty()) {
    throw UserError(place_of(scenario, plug_point), wrong,
                    "change it, or choose another " + std::string(plug_point));
  }
}

/// Returns the least memory of a tenant: device buffers, page tables, and a page for all managed
/// buffers.
std::uint64_t least_bytes(const Tenant& tenant, std::uint64_t granule) {
  std::uint64_t device = 0, pages = 0;
  bool is_paged = false;
  for (const Buffer& buffer : tenant.workload.buffers) {
    pages += round_up_to_page(buffer.bytes()) / page_bytes;
    if (buffer.memory == MemoryKind::device && buffer.lies_on(tenant.member))
      device += round_up(buffer.bytes(), granule);
    is_paged |= buffer.memory == MemoryKind::managed;
  }
  return device + (is_paged ? granule : 0) + PageManager::table_bytes(pages);
}

/// Checks that foreign pages leave each tenant enough.
void check_fragmentation(const Scenario& scenario, const MachineParameters& parameters) {
  const MemoryParameters& memory = parameters.gpu.memory;
  const std::uint64_t capacity = memory.capacity.count();
  const std::vector<Frame> foreign =
      foreign_pages(memory.fragmentation, capacity, parameters.simulation.seed);
  if (foreign.empty()) return;
  const std::uint64_t granule =
      make_page_manager(parameters.policies.page_manager, {})->granule_pages();
  std::set<std::uint64_t> taken{0};  // granule 0: the first page is never used
  for (const Frame page : foreign) taken.insert(page.value() / granule);
  const std::uint64_t left =
      (capacity / (granule * page_bytes) - taken.size()) * granule * page_bytes;
  for (const Tenant& tenant : scenario.tenants) {
    if (tenant.cpu) continue;
    const std::uint64_t least = least_bytes(tenant, granule * page_bytes);
    if (least <= left) continue;
    throw UserError(scenario.gpu.find("memory").find("fragmentation").where(),
                    "foreign pages leave " + std::to_string(left) + " of gpu.memory.capacity's " +
                        std::to_string(capacity) + " bytes, and tenant " + tenant.name + " needs " +
                        std::to_string(least) + " for device buffers and page tables",
                    "lower index or occupancy, or raise gpu.memory.capacity");
  }
}

}  // namespace

std::uint64_t capacity_unit(const MachineParameters& parameters) {
  return make_page_manager(parameters.policies.page_manager, {})->capacity_unit() * page_bytes;
}

void check_memory(const Scenario& scenario, const MachineParameters& parameters) {
  const std::uint64_t page = capacity_unit(parameters);
  const std::uint64_t capacity = parameters.gpu.memory.capacity.count();
  if (capacity % page != 0) {
    const Node memory = scenario.gpu.find("memory");
    const Node given = memory.exists() ? memory.find("capacity") : Node();
    throw UserError(given.exists() ? given.where() : scenario.gpu.where(),
                    "gpu.memory.capacity of " + std::to_string(capacity) +
                        " bytes does not divide into pages of " + std::to_string(page) + " bytes",
                    "make it a multiple of the page size of policies.page_manager");
  }
  check_fragmentation(scenario, parameters);
  check_policy(scenario, parameters, cache_policy_registry(), parameters.policies.cache_policy,
               "cache_policy");
  check_policy(scenario, parameters, replacement_registry(), parameters.policies.replacement,
               "replacement");
  check_policy(scenario, parameters, dram_schedulers(), parameters.policies.dram_scheduler,
               "dram_scheduler");
}

void check_host_memory(const Scenario& scenario, const HostParameters& host) {
  const std::uint64_t available = host.memory.count();
  std::uint64_t needed = 0;
  for (const Tenant& tenant : scenario.tenants) {
    needed += round_up_to_page(tenant.workload.heap);
    for (const Buffer& buffer : tenant.workload.buffers) {
      needed += round_up_to_page(buffer.bytes());
      if (needed <= available) continue;
      throw UserError(buffer.where,
                      "host memory is full: with buffer " + buffer.name + " of tenant " +
                          tenant.name + " the tenants' buffers need " + std::to_string(needed) +
                          " of host.memory's " + std::to_string(available) + " bytes",
                      "raise host.memory or use smaller buffers");
    }
  }
}

}  // namespace lockstep
