#include "models/host/driver.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/host/host_link.hpp"

namespace lockstep {

std::uint64_t Driver::take_addresses(std::uint16_t tenant, std::uint64_t bytes) {
  const std::uint64_t base = next_address_[tenant];
  next_address_[tenant] += round_up_to_page(bytes) + page_bytes;
  return base;
}

Extent Driver::map(std::uint16_t tenant, std::uint64_t bytes, const std::string& where,
                   const std::string& what) {
  const std::optional<std::uint64_t> physical = frames_.allocate(bytes);
  if (!physical) {
    throw UserError(where,
                    "out of GPU memory: " + what + " needs " +
                        std::to_string(round_up_to_page(bytes)) + " bytes, " +
                        std::to_string(frames_.free_bytes()) + " of " +
                        std::to_string(frames_.capacity()) + " are free",
                    "raise gpu.memory.capacity or use smaller buffers");
  }
  return {take_addresses(tenant, bytes), round_up_to_page(bytes), *physical, 0, 0};
}

Extent Driver::map_host(std::uint16_t tenant, std::uint64_t bytes, std::uint64_t host_address) {
  return {take_addresses(tenant, bytes), round_up_to_page(bytes), host_address, 1, 0};
}

void Driver::unmap(const Extent& extent, Time now, HostLink& link, Outbox& outbox) {
  if (extent.in_host) return;
  zeroing_.push_back({extent.physical_base, extent.bytes, partitions_});
  const ZeroRange range{extent.physical_base, extent.bytes};
  for (std::uint32_t p = 0; p < partitions_; ++p) {
    link.send_range(p, now, MessageKind::zero_range, range, outbox);
  }
}

void Driver::zero_done(const ZeroRange& range) {
  const auto entry = std::find_if(zeroing_.begin(), zeroing_.end(),
                                  [&](const Zeroing& z) { return z.base == range.base; });
  LOCKSTEP_CHECK(entry != zeroing_.end(), "a range nobody freed was zeroed");
  if (--entry->answers_missing > 0) return;
  frames_.release(entry->base, entry->bytes);
  zeroing_.erase(entry);
}

}  // namespace lockstep
