/// Pages that other GPUs of their tenant have, too (see managed_pages.hpp).
#include "core/memory/round_up.hpp"
#include "models/driver/managed/managed_pages.hpp"

namespace lockstep {

void ManagedPages::share(std::uint32_t allocation, std::uint32_t tenant, BufferId declared) {
  Buffer& buffer = buffers_[allocation];
  const std::uint64_t pages = residency_.allocation(allocation).pages;
  buffer.shared = shared_->add(tenant, declared.value(), gpu_, allocation,
                               round_up(pages, granule_) / granule_);
  buffer.read_mostly = shared_->policy().copies_reads();
}

bool ManagedPages::may_come(ManagedPage page, bool write, Time now) {
  const Buffer& buffer = buffer_of(page);
  if (!buffer.is_shared()) return true;
  const bool as_copy = comes_as_copy(page) && !write;
  return shared_->may_come(buffer.shared, unit_of(page), gpu_, write, as_copy, now);
}

bool ManagedPages::waits_for_others(ManagedPage page) const {
  const Buffer& buffer = buffer_of(page);
  return buffer.is_shared() && shared_->waits(buffer.shared, unit_of(page), gpu_);
}

bool ManagedPages::is_elsewhere(ManagedPage page) const {
  const Buffer& buffer = buffer_of(page);
  return buffer.is_shared() &&
         !shared_->is_free(buffer.shared, unit_of(page), gpu_, comes_as_copy(page));
}

void ManagedPages::tell_arrival(PageRange range, bool writable, Time now) {
  if (buffer_of(range.first).is_shared()) shared_->came(units_of(range), gpu_, !writable, now);
}

SharedRange ManagedPages::units_of(PageRange range) const {
  const std::uint64_t first = unit_of(range.first);
  return {buffer_of(range.first).shared, first, unit_of(range.end() - 1) - first + 1};
}

PageRange ManagedPages::pages_of_units(std::uint32_t allocation, std::uint64_t first,
                                       std::uint64_t count) const {
  const Allocation& a = residency_.allocation(allocation);
  return whole_granules({a.first + first * granule_, (count - 1) * granule_ + 1});
}

}  // namespace lockstep
