#include "models/gpu/core_places.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/gpu/memory_check.hpp"
#include "models/memory/dram/dram_layout.hpp"

namespace lockstep {

CorePlaces::CorePlaces(const Scenario& scenario, const MachineParameters& parameters,
                       std::uint64_t end) {
  const std::uint64_t page = capacity_unit(parameters);
  before_ = end / page * page;
  take_cores(scenario, parameters.gpu.cpu.cores);
  if (tenants_.empty()) return;
  const MemoryParameters& memory = parameters.gpu.memory;
  const std::uint64_t stripe = memory.partitions * DramLayout(memory.dram).stripe_bytes();
  std::uint64_t total = 0;
  for (const TenantId tenant : tenants_) {
    bytes_.push_back(round_up(scenario.tenants[tenant.value()].cpu->memory.count(), stripe));
    total += bytes_.back();
  }
  if (total + stripe + page > end)
    throw UserError(scenario.tenants[tenants_.front().value()].cpu->where,
                    "the tenants on CPU cores touch " + std::to_string(total) +
                        " bytes, which leave nothing of gpu.memory.capacity, " +
                        std::to_string(memory.capacity.count()) + " bytes",
                    "lower their cpu.memory or raise gpu.memory.capacity");
  std::uint64_t base = (end - total) / stripe * stripe;
  before_ = base / page * page;
  for (const std::uint64_t bytes : bytes_) {
    bases_.emplace_back(base);
    base += bytes;
  }
}

void CorePlaces::take_cores(const Scenario& scenario, std::uint32_t cores) {
  for (std::uint16_t t = 0; t < scenario.tenants.size(); ++t) {
    const Tenant& tenant = scenario.tenants[t];
    if (!tenant.cpu) continue;
    if (tenants_.size() == cores)
      throw UserError(tenant.where,
                      "tenant " + tenant.name + " needs a CPU core, and gpu.cpu.cores is " +
                          std::to_string(cores),
                      "choose a machine with more cores, such as sms_16c1g, or raise it");
    tenants_.emplace_back(t);
  }
}

std::optional<std::size_t> CorePlaces::core_of(std::size_t tenant) const {
  const auto found =
      std::find(tenants_.begin(), tenants_.end(), TenantId{static_cast<std::uint16_t>(tenant)});
  if (found == tenants_.end()) return std::nullopt;
  return found - tenants_.begin();
}

}  // namespace lockstep
