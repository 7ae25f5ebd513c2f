#include "models/driver/managed/managed_pages.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"

namespace lockstep {

std::uint32_t ManagedPages::add(TenantId tenant, BufferId buffer, VirtualPage page,
                                std::uint64_t pages) {
  const std::uint32_t index = residency_.add(tenant, buffer, page, pages);
  if (index >= buffers_.size()) buffers_.resize(index + 1);
  buffers_[index] = Buffer{};
  marks_.resize(residency_.end().value());
  const ManagedPage first = residency_.allocation(index).first;
  std::fill_n(marks_.begin() + static_cast<std::ptrdiff_t>(first.value()), pages, std::uint8_t{0});
  return index;
}

void ManagedPages::remove(std::uint32_t allocation) {
  if (buffers_[allocation].is_shared()) shared_->remove(buffers_[allocation].shared, gpu_);
  residency_.remove(allocation);
}

bool ManagedPages::has_data(PageRange range, const BufferDirectory& directory) const {
  const Allocation& a = owner(range.first);
  for (ManagedPage page = range.first; page < range.end(); ++page)
    if (directory.has_data(a.tenant, a.buffer, page - a.first)) return true;
  return false;
}

PageRange ManagedPages::whole_granules(PageRange range) const {
  const Allocation& a = owner(range.first);
  const ManagedPage first = range.first.rounded_down(granule_);
  return {first, std::min(round_up(range.end() - first, granule_), a.end() - first)};
}

void ManagedPages::set(PageRange range, Mark mark) {
  for (ManagedPage page = range.first; page < range.end(); ++page) marks_[page.value()] |= mark;
}

void ManagedPages::clear(PageRange range, int marks) {
  for (ManagedPage page = range.first; page < range.end(); ++page)
    marks_[page.value()] &= static_cast<std::uint8_t>(~marks);
}

void ManagedPages::place_all(PageRange range, PagePlace place) {
  for (ManagedPage page = range.first; page < range.end(); ++page)
    residency_.set_place(page, place);
}

void ManagedPages::expect(PageRange range) {
  place_all(range, PagePlace::arriving);
  buffer_of(range.first).moving += range.count;
  if (buffer_of(range.first).is_shared()) shared_->coming(units_of(range), gpu_);
}

void ManagedPages::give_up(PageRange range) {
  place_all(range, PagePlace::host);
  buffer_of(range.first).moving -= range.count;
  if (buffer_of(range.first).is_shared()) shared_->given_up(units_of(range), gpu_);
}

void ManagedPages::arrive(PageRange range, bool writable, HostStatistics& statistics) {
  Buffer& buffer = buffer_of(range.first);
  buffer.moving -= range.count;
  arriving_ -= range.count;
  settle(range, statistics);
  if (writable) return;
  set(range, duplicate);
  buffer.duplicates += range.count;
}

void ManagedPages::settle(PageRange range, HostStatistics& statistics) {
  place_all(range, PagePlace::gpu);
  for (ManagedPage page = range.first; page < range.end(); ++page) eviction_.arrived(page);
  clear(range, evicted | duplicate);
  buffer_of(range.first).resident += range.count;
  resident_ += range.count;
  statistics.resident_pages[owner(range.first).tenant.value()] += range.count;
}

void ManagedPages::offer(std::uint32_t allocation) {
  const Allocation& a = residency_.allocation(allocation);
  set({a.first, a.pages}, offered);
  buffers_[allocation].offered = a.pages;
}

void ManagedPages::withdraw(PageRange range) {
  Buffer& buffer = buffer_of(range.first);
  if (buffer.offered == 0) return;
  for (ManagedPage page = range.first; page < range.end(); ++page)
    buffer.offered -= has(page, offered);
  clear(range, offered);
}

bool ManagedPages::mapped_by_gpu(ManagedPage page, HostStatistics& statistics) {
  withdraw({page, 1});
  if (place(page) == PagePlace::leaving) {
    ++leaving_;
    return true;
  }
  LOCKSTEP_CHECK(place(page) == PagePlace::host, "the GPU has mapped a page that is another's");
  settle({page, 1}, statistics);
  return false;
}

void ManagedPages::stay_remote(PageRange range) {
  Buffer& buffer = buffer_of(range.first);
  buffer.moving -= range.count;
  place_all(range, PagePlace::remote);
  buffer.remote += range.count;
}

void ManagedPages::reopen(PageRange range, HostStatistics& statistics) {
  for (ManagedPage page = range.first; page < range.end(); ++page) eviction_.left(page);
  Buffer& buffer = buffer_of(range.first);
  buffer.resident -= range.count;
  buffer.duplicates -= range.count;
  resident_ -= range.count;
  statistics.resident_pages[owner(range.first).tenant.value()] -= range.count;
  occupy(range);
  expect(range);
}

void ManagedPages::leave(PageRange range, HostStatistics& statistics) {
  Buffer& buffer = buffer_of(range.first);
  for (ManagedPage page = range.first; page < range.end(); ++page) {
    if (place(page) != PagePlace::gpu) {
      buffer.remote -= place(page) == PagePlace::remote;
      continue;
    }
    eviction_.left(page);
    --buffer.resident;
    buffer.duplicates -= has(page, duplicate);
    --resident_;
    ++leaving_;
    statistics.resident_pages[owner(range.first).tenant.value()] -= 1;
  }
  withdraw(range);
  place_all(range, PagePlace::leaving);
  buffer.moving += range.count;
}

void ManagedPages::come_home(PageRange range, std::uint64_t in_memory) {
  place_all(range, PagePlace::host);
  buffer_of(range.first).moving -= range.count;
  leaving_ -= in_memory;
  if (buffer_of(range.first).is_shared()) shared_->left(units_of(range), gpu_);
}

std::vector<PageRange> ManagedPages::resident_ranges(std::uint32_t allocation) const {
  std::vector<PageRange> ranges;
  const Allocation& a = residency_.allocation(allocation);
  for (ManagedPage page = a.first; page < a.end(); ++page) {
    if (place(page) != PagePlace::gpu) continue;
    if (!ranges.empty() && ranges.back().end() == page) {
      ++ranges.back().count;
    } else {
      ranges.push_back({page, 1});
    }
  }
  return ranges;
}

void ManagedPages::serialize(Archive& archive) {
  archive(residency_, buffers_, marks_, resident_, leaving_, arriving_, borrowed_);
}

}  // namespace lockstep
