#include "models/driver/managed_memory.hpp"

#include <algorithm>

#include "core/checkpoint/archive.hpp"

namespace lockstep {
namespace {

/// Of a transfer for a prefetch step: 1 MiB, so that a fault waits for it as long as for the
/// largest that the tree prefetcher makes (virtual-memory-and-exceptions.md, 18).
constexpr std::uint64_t most_step_pages = 256;

}  // namespace

ManagedMemory::ManagedMemory(Setup setup)
    : setup_(std::move(setup)),
      turns_(setup_.fault.order, setup_.priorities),
      fault_numbers_(setup_.priorities.size()) {}

std::uint32_t ManagedMemory::add(std::uint16_t tenant, std::uint32_t buffer,
                                 std::uint64_t virtual_page, std::uint64_t pages) {
  const std::uint32_t index = residency_.add(tenant, buffer, virtual_page, pages);
  if (index >= buffers_.size()) buffers_.resize(index + 1);
  buffers_[index] = Buffer{};
  marks_.resize(residency_.end());
  const ManagedPage first = residency_.allocation(index).first;
  std::fill_n(marks_.begin() + static_cast<std::ptrdiff_t>(first), pages, std::uint8_t{0});
  return index;
}

void ManagedMemory::prefer(std::uint32_t allocation, PreferredPlace place) {
  buffers_[allocation].preferred = place;
}

void ManagedMemory::read_mostly(std::uint32_t allocation, bool on) {
  buffers_[allocation].read_mostly = on;
}

void ManagedMemory::let_go(std::uint32_t allocation, const DriverContext& context) {
  --buffers_[allocation].holds;
  reconsider(context);
}

bool ManagedMemory::migrate_home(std::uint32_t index, std::uint64_t first, std::uint64_t count,
                                 bool write, const DriverContext& context) {
  Buffer& buffer = buffers_[index];
  const bool whole = count == residency_.allocation(index).pages;
  if (whole && buffer.resident == 0 && buffer.moving == 0) return true;
  if (buffer.resident > (write ? 0 : buffer.duplicates))
    depart_all(index, first, count, true, write, 0, context);
  if (whole) return buffer.resident == (write ? 0 : buffer.duplicates) && buffer.moving == 0;
  const ManagedPage begin = residency_.allocation(index).first + first;
  for (ManagedPage page = begin; page < begin + count; ++page) {
    const PagePlace place = residency_.place(page);
    const bool copied = place == PagePlace::gpu && !write && (marks_[page] & duplicate) != 0;
    if (place != PagePlace::host && place != PagePlace::remote && !copied) return false;
  }
  return true;
}

bool ManagedMemory::release(std::uint32_t index, const DriverContext& context) {
  Buffer& buffer = buffers_[index];
  if (buffer.resident + buffer.remote > 0)
    depart_all(index, 0, residency_.allocation(index).pages, false, true, 0, context);
  if (buffer.resident + buffer.remote + buffer.moving > 0) return false;
  const Allocation a = residency_.allocation(index);
  const auto inside = [&](const Fault& fault) { return a.contains(fault.page); };
  std::erase_if(queue_, inside);
  std::erase_if(deferred_, inside);
  std::erase_if(awaited_, inside);
  for (Unit& unit : units_) std::erase_if(unit.faults, inside);
  residency_.remove(index);
  return true;
}

void ManagedMemory::prefetch(std::uint32_t index, std::uint64_t first, std::uint64_t count,
                             bool to_gpu, std::uint64_t id, const DriverContext& context) {
  // Counted once for itself, so that it does not end before everything is asked for.
  operations_.push_back({id, 1});
  const ManagedPage begin = residency_.allocation(index).first + first, end = begin + count;
  if (!to_gpu) {
    depart_all(index, first, count, true, true, id, context);
  } else if (buffers_[index].holds == 0) {
    for (ManagedPage page = begin; page < end; ++page) {
      const PagePlace place = residency_.place(page);
      if (place != PagePlace::host && place != PagePlace::remote) continue;
      PageRange range{page, 1};
      const ManagedPage stop = std::min(end, (page / most_step_pages + 1) * most_step_pages);
      while (range.end() < stop && residency_.place(range.end()) == place) ++range.count;
      if (context.driver.granule_pages() > 1) range = widened(range, context);
      page = range.end() - 1;
      if (place == PagePlace::host) {
        prefetch_range(range, id, context);
      } else {
        depart(range, true, id, context).then_to_gpu = true;
      }
    }
    start_waiting(context);
  }
  count_operation(id, -1);
}

bool ManagedMemory::make_room(std::uint64_t bytes, const DriverContext& context) {
  const std::uint64_t pages = bytes / page_bytes;
  if (leaving_pages_ >= pages) return true;
  return evict(pages - leaving_pages_, context) || leaving_pages_ > 0 || mapping_ > 0 ||
         somebody_leaves();
}

std::vector<PageRange> ManagedMemory::resident_ranges(std::uint32_t index) const {
  std::vector<PageRange> ranges;
  const Allocation& a = residency_.allocation(index);
  for (ManagedPage page = a.first; page < a.first + a.pages; ++page) {
    if (residency_.place(page) != PagePlace::gpu) continue;
    if (!ranges.empty() && ranges.back().end() == page) {
      ++ranges.back().count;
    } else {
      ranges.push_back({page, 1});
    }
  }
  return ranges;
}

Time ManagedMemory::next_activity() const {
  Time next = units_.empty() ? Time::never() : units_.front().begin;
  if (!queue_.empty()) next = std::min(next, std::max(server_free_, queue_.front().queued));
  return next;
}

void ManagedMemory::act(const DriverContext& context) {
  while (!queue_.empty() && std::max(server_free_, queue_.front().queued) <= context.now)
    form_unit(context);
  while (!units_.empty() && units_.front().begin <= context.now) {
    const Unit unit = std::move(units_.front());
    units_.pop_front();
    begin_unit(unit, context);
  }
  start_waiting(context);
}

void ManagedMemory::forget_faults(std::uint16_t tenant) {
  const auto theirs = [&](const Fault& fault) {
    return residency_.owner(fault.page).tenant == tenant;
  };
  std::erase_if(queue_, theirs);
  std::erase_if(deferred_, theirs);
  std::erase_if(awaited_, theirs);
  for (Unit& unit : units_) std::erase_if(unit.faults, theirs);
}

std::string ManagedMemory::waiting_for() const {
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(queue_.size(), " faults wait for the driver");
  add(deferred_.size(), " faults wait for the CPU or for pages that leave");
  add(waiting_.size(), " migrations wait for frames");
  add(mapping_, " migrations are under way");
  add(leaving_pages_, " pages are leaving the GPU");
  return text;
}

void ManagedMemory::serialize(Archive& archive) {
  archive(residency_, buffers_, marks_, queue_, turns_, deferred_, awaited_, units_, server_free_,
          fault_numbers_, evictions_, migrations_, free_migrations_, waiting_, mapping_,
          departures_, free_departures_, leaving_pages_, resident_pages_, arriving_pages_,
          operations_, finished_operations_, records_);
  setup_.eviction->serialize(archive);
}

}  // namespace lockstep
