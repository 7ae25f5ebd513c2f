#include "models/driver/mapping/unmapper.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error/error.hpp"
#include "core/memory/slots.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

void Unmapper::unmap(const TenantPages& pages, UnmappingOwner owner, const HostCycle& cycle) {
  const std::uint32_t index = take_slot(unmappings_, free_);
  Unmapping& unmapping = unmappings_[index];
  unmapping.result = {pages, owner, std::vector<std::uint64_t>(pages.count)};
  unmapping.missing = news_.unmap(pages, index, cycle);
}

void Unmapper::check(const Unmapped& result, const TenantPages& part) const {
  for (VirtualPage page = part.first; page < part.end(); ++page) {
    const std::uint64_t changed = page_manager_.tables().entry(part.tenant, page).bits ^
                                  result.entries[page - result.pages.first];
    LOCKSTEP_CHECK((changed & ~PageTableEntry::set_by_gmmu) == 0,
                   "the entry of page " + std::to_string(page.value()) + " of tenant " +
                       std::to_string(part.tenant.value()) +
                       " in GPU memory is not the one that the driver wrote");
  }
}

std::optional<Unmapped> Unmapper::take(const MessageHeader& message) {
  const auto& span = message.body<PageSpan>();
  Unmapping& unmapping = unmappings_[span.id];
  Unmapped& result = unmapping.result;
  const TenantPages part{TenantId{span.tenant}, VirtualPage{span.page}, span.count};
  std::memcpy(result.entries.data() + (part.first - result.pages.first), message.payload_data(),
              span.count * sizeof(std::uint64_t));
  check(result, part);
  page_manager_.unmapped(part);
  if (--unmapping.missing > 0) return std::nullopt;
  free_.push_back(span.id);
  return std::exchange(unmapping, Unmapping{}).result;
}

bool Unmapper::holds(const TenantPages& pages) const {
  return std::any_of(unmappings_.begin(), unmappings_.end(), [&](const Unmapping& unmapping) {
    return unmapping.missing > 0 && unmapping.result.pages.overlaps(pages);
  });
}

void Unmapper::serialize(Archive& archive) {
  archive(unmappings_, free_);
}

}  // namespace lockstep
