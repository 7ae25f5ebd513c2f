/// Pages that other GPUs of their tenant have, too (see managed_pages.hpp).
#include <algorithm>

#include "core/memory/round_up.hpp"
#include "models/driver/managed/managed_pages.hpp"
#include "models/vm/page_table_entry.hpp"

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

/// A page that would come alone as a copy may come along with pages that do not.
bool ManagedPages::is_elsewhere(ManagedPage page) const {
  const Buffer& buffer = buffer_of(page);
  const bool all_come_as_copies = buffer.read_mostly && granule_ == 1;
  return buffer.is_shared() &&
         !shared_->is_free(buffer.shared, unit_of(page), gpu_, all_come_as_copies);
}

bool ManagedPages::is_to_be_mapped(ManagedPage page) const {
  const Buffer& buffer = buffer_of(page);
  return buffer.is_shared() && shared_->is_to_be_mapped(buffer.shared, unit_of(page), gpu_);
}

std::vector<FrameRun> ManagedPages::borrow(ManagedPage page) {
  std::vector<FrameRun> frames = shared_->borrow(buffer_of(page).shared, unit_of(page));
  const PageRange unit = whole_granules({page, 1});
  ManagedPage at = unit.first;
  for (const FrameRun& run : frames)
    for (std::uint64_t byte = 0; byte < run.bytes && at < unit.end(); byte += page_bytes, ++at)
      borrowed_[run.physical + byte] = at;
  return frames;
}

std::optional<ManagedPage> ManagedPages::borrowed_at(std::uint64_t address) const {
  const auto found = borrowed_.find(address);
  if (found == borrowed_.end() || found->second >= residency_.end()) return std::nullopt;
  return found->second;
}

bool ManagedPages::attract(ManagedPage page) {
  return shared_->attract(buffer_of(page).shared, unit_of(page), gpu_);
}

bool ManagedPages::is_attracted(ManagedPage page) const {
  return shared_->is_attracted(buffer_of(page).shared, unit_of(page), gpu_);
}

bool ManagedPages::recall(PageRange range) {
  const bool is_here = place(range.first) == PagePlace::gpu;
  return is_here && buffer_of(range.first).is_shared() && shared_->recall(units_of(range), gpu_);
}

bool ManagedPages::is_borrowed(PageRange range) const {
  return shared_->is_borrowed(units_of(range), gpu_);
}

bool ManagedPages::fetch(PageRange range) {
  return buffer_of(range.first).is_shared() && shared_->fetch(units_of(range), gpu_);
}

bool ManagedPages::is_ready(PageRange range) const {
  return shared_->is_ready(units_of(range), gpu_);
}

bool ManagedPages::is_awaited(ManagedPage page) const {
  const Buffer& buffer = buffer_of(page);
  return buffer.is_shared() && shared_->is_awaited(buffer.shared, unit_of(page), gpu_);
}

void ManagedPages::park(PageRange unit, std::uint32_t departure, std::vector<FrameRun> frames,
                        bool is_newer) {
  shared_->park(buffer_of(unit.first).shared, unit_of(unit.first),
                {gpu_, departure, is_newer, std::move(frames)});
}

bool ManagedPages::bring(PageRange unit, const std::vector<FrameRun>& to, std::uint32_t migration,
                         const HostCycle& cycle) {
  const std::uint32_t shared = buffer_of(unit.first).shared;
  const std::uint64_t number = unit_of(unit.first);
  const auto source = shared_->take_source(shared, number, gpu_);
  if (!source) return false;
  if (source->is_newer) set(unit, newer);
  cycle.statistics.pages_fetched[owner(unit.first).tenant.value()] += unit.count;
  shared_->send(shared, number, *source, gpu_, to, migration, cycle.now, cycle.outbox);
  return true;
}

void ManagedPages::spill(PageRange range) {
  if (buffer_of(range.first).is_shared()) shared_->spill(units_of(range), gpu_);
}

std::optional<PageRange> ManagedPages::claim_spilled(std::uint32_t allocation, std::uint64_t unit) {
  const PageRange range = pages_of_units(allocation, unit, 1);
  for (ManagedPage page = range.first; page < range.end(); ++page)
    if (place(page) != PagePlace::host) return std::nullopt;
  if (!shared_->claim_spilled(buffers_[allocation].shared, unit, gpu_)) return std::nullopt;
  return range;
}

std::vector<PageRange> granules_in(const ManagedPages& pages, PageRange range) {
  std::vector<PageRange> units;
  for (ManagedPage page = range.first; page < range.end();) {
    PageRange unit = pages.whole_granules({page, 1});
    unit.count = std::min(unit.end(), range.end()) - page;
    unit.first = page;
    units.push_back(unit);
    page = unit.end();
  }
  return units;
}

void ManagedPages::tell_mapping(PageRange range) {
  if (buffer_of(range.first).is_shared()) shared_->came_mapped(units_of(range), gpu_);
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
