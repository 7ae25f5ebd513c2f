#include "models/gpu/memory_check.hpp"

#include "core/error/error.hpp"

namespace lockstep {

namespace {

/// Where a scenario says what stands at a plug point, or where it would.
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

}  // namespace

void check_memory(const Scenario& scenario, const MachineParameters& parameters) {
  const std::uint64_t page =
      make_page_manager(parameters.policies.page_manager, {})->capacity_unit() * page_bytes;
  const std::uint64_t capacity = parameters.gpu.memory.capacity.count();
  if (capacity % page != 0) {
    const Node memory = scenario.gpu.find("memory");
    const Node given = memory.exists() ? memory.find("capacity") : Node();
    throw UserError(given.exists() ? given.where() : scenario.gpu.where(),
                    "gpu.memory.capacity of " + std::to_string(capacity) +
                        " bytes does not divide into pages of " + std::to_string(page) + " bytes",
                    "make it a multiple of the page size of policies.page_manager");
  }
  check_policy(scenario, parameters, cache_policy_registry(), parameters.policies.cache_policy,
               "cache_policy");
  check_policy(scenario, parameters, dram_schedulers(), parameters.policies.dram_scheduler,
               "dram_scheduler");
  const std::uint64_t available = parameters.host.memory.count();
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
