/// Pages under way: to the GPU when there are frames, off it for room, for the CPU, for good.
///
/// Source: architecture.md, section 8, rules 7, 9 and 10; virtual-memory-and-exceptions.md, 10.
#include <algorithm>

#include "core/error/error.hpp"
#include "core/memory/slots.hpp"
#include "models/driver/managed_memory.hpp"

namespace lockstep {

namespace {

/// The part [from, from + bytes) of memory that lies in `frames` one after the other.
std::vector<FrameRun> part_of(const std::vector<FrameRun>& frames, std::uint64_t from,
                              std::uint64_t bytes) {
  std::vector<FrameRun> part;
  for (const FrameRun& run : frames) {
    if (bytes == 0) break;
    if (from >= run.bytes) {
      from -= run.bytes;
      continue;
    }
    const std::uint64_t here = std::min(bytes, run.bytes - from);
    part.push_back({run.physical + from, here});
    bytes -= here;
    from = 0;
  }
  return part;
}

}  // namespace

std::uint32_t ManagedMemory::begin_migration(Migration migration) {
  const std::uint32_t index = take_slot(migrations_, free_migrations_);
  for (ManagedPage page = migration.range.first; page < migration.range.end(); ++page)
    residency_.set_place(page, PagePlace::arriving);
  buffer_of(migration.range.first).moving += migration.range.count;
  migrations_[index] = migration;
  return index;
}

void ManagedMemory::add_migration(Migration migration) {
  waiting_.push_back(begin_migration(migration));
}

/// For a prefetch step.
void ManagedMemory::prefetch_range(PageRange range, std::uint64_t operation,
                                   const DriverContext& context) {
  Migration migration;
  migration.range = range;
  migration.writable = !buffer_of(range.first).read_mostly || context.driver.granule_pages() > 1;
  migration.not_before = context.now;
  migration.operation = operation;
  count_operation(operation, 1);
  add_migration(migration);
}

std::vector<ManagedMemory::Fault> ManagedMemory::take_awaited(PageRange range) {
  std::vector<Fault> taken;
  bool any = false;
  for (ManagedPage page = range.first; page < range.end(); ++page) {
    any = any || (marks_[page] & awaited) != 0;
    marks_[page] &= static_cast<std::uint8_t>(~awaited);
  }
  if (!any) return taken;
  std::erase_if(awaited_, [&](const Fault& fault) {
    const bool inside = fault.page >= range.first && fault.page < range.end();
    if (inside) taken.push_back(fault);
    return inside;
  });
  return taken;
}

/// In order: what came first gets its frames first.
void ManagedMemory::start_waiting(const DriverContext& context) {
  while (!waiting_.empty()) {
    const std::uint32_t index = waiting_.front();
    const std::uint64_t pages =
        context.driver.mapped_pages(migrations_[index].range.count * page_bytes);
    std::vector<FrameRun> frames = context.driver.take_frames(pages, true);
    if (frames.empty()) {
      const std::uint64_t coming = context.driver.free_bytes() / page_bytes + leaving_pages_;
      if (!migrations_[index].fault && coming + resident_pages_ + arriving_pages_ < pages) {
        if (!split_first_waiting(context)) drop_waiting(waiting_.begin(), context);
        continue;
      }
      if (coming >= pages && leaving_pages_ > 0) return;
      const std::uint64_t wanted = coming < pages ? pages - coming : pages;
      if (evict(wanted, context) || leaving_pages_ > 0 || mapping_ > 0) return;
      if (!starved(context)) return;
      continue;
    }
    waiting_.pop_front();
    start_migration(index, std::move(frames), context);
  }
}

void ManagedMemory::start_migration(std::uint32_t index, std::vector<FrameRun> frames,
                                    const DriverContext& context) {
  const Migration& migration = migrations_[index];
  const PageRange range = migration.range;
  const Allocation& a = residency_.owner(range.first);
  MapRequest request;
  request.tenant = a.tenant;
  request.page = virtual_page(a, range.first);
  request.not_before = migration.not_before;
  request.owner = index;
  request.flags = migration.writable ? PageTableEntry::writable : 0;
  const std::uint64_t bytes = setup_.buffer_bytes(a.tenant, a.buffer);
  const std::uint64_t first = range.first - a.first;
  for (std::uint64_t page = 0; page < range.count;) {
    // A run of pages that move together, or that have nothing to move.
    const bool data = setup_.has_data(a.tenant, a.buffer, first + page);
    std::uint64_t end = page + 1;
    while (end < range.count && setup_.has_data(a.tenant, a.buffer, first + end) == data) ++end;
    const std::uint64_t offset = (first + page) * page_bytes;
    const std::uint64_t size = std::min((end - page) * page_bytes, bytes - offset);
    const std::vector<FrameRun> part =
        part_of(frames, page * page_bytes, (end - page) * page_bytes);
    if (!data || size < (end - page) * page_bytes)
      request.fresh.insert(request.fresh.end(), part.begin(), part.end());
    if (data) {
      Transfer transfer;
      transfer.kind = Transfer::Kind::to_gpu;
      transfer.rank = migration.fault ? Transfer::Class::fault : Transfer::Class::prefetch;
      transfer.tenant = a.tenant;
      transfer.buffer = a.buffer;
      transfer.offset = offset;
      transfer.bytes = size;
      transfer.frames = part_of(frames, page * page_bytes, size);
      request.data.push_back(std::move(transfer));
      context.statistics.pages_migrated[a.tenant] += end - page;
    } else {
      context.statistics.pages_allocated[a.tenant] += end - page;
    }
    page = end;
  }
  std::uint64_t mapped = 0;
  for (const FrameRun& run : frames) mapped += run.bytes / page_bytes;
  if (mapped > range.count) {  // the end of an allocation in a large page
    const auto rest =
        part_of(frames, range.count * page_bytes, (mapped - range.count) * page_bytes);
    request.fresh.insert(request.fresh.end(), rest.begin(), rest.end());
  }
  request.count = mapped;
  request.frames = std::move(frames);
  HostStatistics& statistics = context.statistics;
  (migration.fault ? statistics.pages_demanded : statistics.pages_prefetched)[a.tenant] +=
      range.count;
  for (ManagedPage page = range.first; page < range.end() && !migration.fault; ++page)
    marks_[page] |= prefetched;
  ++mapping_;
  arriving_pages_ += range.count;
  context.driver.map(std::move(request), context.now, context.link, context.outbox);
}

void ManagedMemory::mapped(std::uint32_t index, const DriverContext& context) {
  const Migration migration = migrations_[index];
  migrations_[index] = Migration{};
  free_migrations_.push_back(index);
  --mapping_;
  Buffer& buffer = buffer_of(migration.range.first);
  buffer.moving -= migration.range.count;
  const std::uint16_t tenant = residency_.owner(migration.range.first).tenant;
  for (const Fault& late : take_awaited(migration.range))
    context.statistics.late_wait[tenant].add(nanoseconds(context.now - late.arrived));
  if (migration.record != none) records_[migration.record].mapped = context.now;
  if (migration.fault)
    context.statistics.fault_transfer[tenant].add(nanoseconds(context.now - migration.served));
  if (migration.remote) {
    for (ManagedPage page = migration.range.first; page < migration.range.end(); ++page)
      residency_.set_place(page, PagePlace::remote);
    buffer.remote += migration.range.count;
    return;
  }
  arriving_pages_ -= migration.range.count;
  for (ManagedPage page = migration.range.first; page < migration.range.end(); ++page) {
    residency_.set_place(page, PagePlace::gpu);
    setup_.eviction->arrived(page);
    marks_[page] &= static_cast<std::uint8_t>(~(evicted | duplicate));
    if (!migration.writable) marks_[page] |= duplicate;
  }
  resident_pages_ += migration.range.count;
  context.statistics.resident_pages[tenant] += migration.range.count;
  buffer.resident += migration.range.count;
  if (!migration.writable) buffer.duplicates += migration.range.count;
  if (migration.operation != 0) count_operation(migration.operation, -1);
}

ManagedMemory::Departure& ManagedMemory::depart(PageRange range, bool keep_bytes,
                                                std::uint64_t operation,
                                                const DriverContext& context) {
  const std::uint32_t index = take_slot(departures_, free_departures_);
  Departure& departure = departures_[index] = {};
  departure.keep_bytes = keep_bytes;
  departure.remote = residency_.place(range.first) == PagePlace::remote;
  departure.range = range;
  departure.operation = operation;
  Buffer& buffer = buffer_of(range.first);
  const Allocation& a = residency_.owner(range.first);
  for (ManagedPage page = range.first; page < range.end(); ++page) {
    if (residency_.place(page) == PagePlace::gpu) {
      setup_.eviction->left(page);
      --buffer.resident;
      buffer.duplicates -= (marks_[page] & duplicate) != 0;
      --resident_pages_;
      context.statistics.resident_pages[a.tenant] -= 1;
      ++leaving_pages_;
    } else {
      --buffer.remote;
    }
    residency_.set_place(page, PagePlace::leaving);
  }
  buffer.moving += range.count;
  if (operation != 0) count_operation(operation, 1);
  context.driver.unmap(a.tenant, virtual_page(a, range.first),
                       context.driver.mapped_pages(range.count * page_bytes), index, context.now,
                       context.outbox);
  return departures_[index];
}

void ManagedMemory::unmapped(Unmapped pages, const DriverContext& context) {
  Departure& departure = departures_[pages.owner];
  const PageRange range = departure.range;
  const Allocation& a = residency_.owner(range.first);
  const std::uint64_t bytes = setup_.buffer_bytes(a.tenant, a.buffer);
  std::vector<Transfer> transfers;
  std::vector<FrameRun> clean;
  bool run = false;
  for (std::uint64_t i = 0; i < pages.entries.size(); ++i) {
    const PageTableEntry entry{pages.entries[i]};
    const bool here = entry.is(PageTableEntry::present) && !entry.is(PageTableEntry::remote);
    const bool dirty = here && i < range.count && departure.keep_bytes &&
                       entry.is(PageTableEntry::dirty) &&
                       (marks_[range.first + i] & duplicate) == 0;
    if (i < range.count) {
      const ManagedPage page = range.first + i;
      if ((marks_[page] & prefetched) != 0) {
        const bool used = entry.is(PageTableEntry::accessed);
        HostStatistics& statistics = context.statistics;
        ++(used ? statistics.prefetched_used : statistics.prefetched_unused)[a.tenant];
      }
      marks_[page] &= static_cast<std::uint8_t>(~(prefetched | duplicate));
    }
    if (here) {
      if (dirty) {
        departure.frames.push_back({entry.address(), page_bytes});
      } else {
        clean.push_back({entry.address(), page_bytes});
      }
    }
    if (!dirty) {
      run = false;
      continue;
    }
    const std::uint64_t offset = (range.first - a.first + i) * page_bytes;
    const std::uint64_t size = std::min(page_bytes, bytes - offset);
    if (!run) {
      Transfer& transfer = transfers.emplace_back();
      transfer.kind = Transfer::Kind::to_host;
      transfer.rank = Transfer::Class::prefetch;
      transfer.tenant = a.tenant;
      transfer.buffer = a.buffer;
      transfer.offset = offset;
      transfer.operation = departure_operation | pages.owner;
    }
    Transfer& transfer = transfers.back();
    transfer.bytes += size;
    append_frame(transfer.frames, entry.address(), size);
    run = true;
    ++context.statistics.pages_written_back[a.tenant];
  }
  context.driver.give_back(clean);
  departure.transfers = static_cast<std::uint32_t>(transfers.size());
  if (transfers.empty()) return departed(pages.owner, context);
  for (const Transfer& transfer : transfers)
    context.link.start(transfer, context.now, context.outbox);
}

void ManagedMemory::transfer_done(const Transfer& transfer, const DriverContext& context) {
  const auto index = static_cast<std::uint32_t>(transfer.operation & ~departure_operation);
  if (--departures_[index].transfers == 0) departed(index, context);
}

void ManagedMemory::departed(std::uint32_t index, const DriverContext& context) {
  const Departure departure = std::move(departures_[index]);
  departures_[index] = Departure{};
  free_departures_.push_back(index);
  context.driver.give_back(departure.frames);
  for (ManagedPage page = departure.range.first; page < departure.range.end(); ++page)
    residency_.set_place(page, PagePlace::host);
  buffer_of(departure.range.first).moving -= departure.range.count;
  if (!departure.remote) leaving_pages_ -= departure.range.count;
  if (departure.then_to_gpu && buffer_of(departure.range.first).holds == 0)
    prefetch_range(departure.range, departure.operation, context);
  if (departure.operation != 0) count_operation(departure.operation, -1);
  reconsider(context);
}

/// Ranges of pages that are there and have to go, as long as possible.
void ManagedMemory::depart_all(std::uint32_t index, std::uint64_t first, std::uint64_t count,
                               bool keep_bytes, bool duplicates_too, std::uint64_t operation,
                               const DriverContext& context) {
  const PageRange pages = widened({residency_.allocation(index).first + first, count}, context);
  const ManagedPage begin = pages.first, end = pages.end();
  const auto goes = [&](ManagedPage page) {
    const PagePlace place = residency_.place(page);
    if (place == PagePlace::remote) return !keep_bytes;
    return place == PagePlace::gpu && (duplicates_too || (marks_[page] & duplicate) == 0);
  };
  for (ManagedPage page = begin; page < end; ++page) {
    if (!goes(page)) continue;
    PageRange range{page, 1};
    while (range.end() < end && goes(range.end()) &&
           residency_.place(range.end()) == residency_.place(page))
      ++range.count;
    depart(range, keep_bytes, operation, context);
    page = range.end() - 1;
  }
}

void ManagedMemory::count_operation(std::uint64_t id, std::int64_t change) {
  const auto operation = std::find_if(operations_.begin(), operations_.end(),
                                      [&](const Operation& o) { return o.id == id; });
  LOCKSTEP_CHECK(operation != operations_.end(), "pages move for a prefetch nobody asked for");
  operation->missing += static_cast<std::uint64_t>(change);
  if (operation->missing > 0) return;
  finished_operations_.push_back(id);
  operations_.erase(operation);
}

/// Faults that had to wait may go on now; they queue again in the order in which they came.
void ManagedMemory::reconsider(const DriverContext& context) {
  std::vector<Fault> still;
  for (Fault& fault : deferred_) {
    const bool waits =
        residency_.place(fault.page) == PagePlace::leaving || buffer_of(fault.page).holds > 0;
    if (waits) {
      still.push_back(fault);
    } else {
      fault.queued = context.now;
      queue_.push_back(fault);
    }
  }
  deferred_ = std::move(still);
}

}  // namespace lockstep
