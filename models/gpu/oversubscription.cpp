#include "models/gpu/oversubscription.hpp"

#include <cmath>
#include <numeric>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

Footprint footprint_of(const Tenant& tenant) {
  Footprint sum;
  if (tenant.cpu) return sum;
  sum.managed = round_up_to_page(tenant.workload.heap);
  for (const Buffer& buffer : tenant.workload.buffers) {
    if (!buffer.lies_on(tenant.member)) continue;
    std::uint64_t& bytes = buffer.memory == MemoryKind::device    ? sum.device
                           : buffer.memory == MemoryKind::managed ? sum.managed
                                                                  : sum.pinned;
    bytes += round_up_to_page(buffer.bytes());
  }
  return sum;
}

Bytes oversubscribed_capacity(const Scenario& scenario, const MachineParameters& machine) {
  const auto manager = make_page_manager(machine.policies.page_manager, {});
  const std::uint64_t granule = manager->granule_pages() * page_bytes;
  const std::uint64_t unit =
      std::lcm(page_bytes * machine.gpu.memory.partitions, manager->capacity_unit() * page_bytes);
  std::uint64_t fixed = granule, managed = 0;  // one granule: the first page is never used
  for (const Tenant& tenant : scenario.tenants) {
    const Footprint sum = footprint_of(tenant);
    const std::uint64_t pages = (sum.device + sum.managed + sum.pinned) / page_bytes;
    for (const Buffer& buffer : tenant.workload.buffers)
      if (buffer.memory == MemoryKind::device && buffer.lies_on(tenant.member))
        fixed += round_up(buffer.bytes(), granule);
    fixed += round_up(PageManager::table_bytes(pages), granule);
    managed += sum.managed;
  }
  if (managed == 0)
    throw scenario.gpu.at("memory")
        .at("oversubscription")
        .error("no tenant has managed memory, so none can be more than there is",
               "leave it out, or give a tenant memory: managed");
  const double share = static_cast<double>(managed) / machine.gpu.memory.oversubscription;
  return Bytes{round_up(fixed + static_cast<std::uint64_t>(std::ceil(share)), unit)};
}

}  // namespace lockstep
