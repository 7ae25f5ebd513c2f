#include "models/driver/managed/migrations.hpp"

#include "core/memory/slots.hpp"
#include "models/driver/managed/migration_request.hpp"

namespace lockstep {

std::uint32_t Migrations::store(const Migration& migration) {
  const std::uint32_t index = take_slot(migrations_, free_);
  migrations_[index] = migration;
  return index;
}

Migration Migrations::take(std::uint32_t index) {
  free_.push_back(index);
  return std::exchange(migrations_[index], Migration{});
}

std::uint32_t Migrations::begin(const Migration& migration) {
  parts_.pages.expect(migration.range);
  return store(migration);
}

void Migrations::prefetch(PageRange range, std::uint64_t operation, Time now) {
  Migration migration;
  migration.range = range;
  migration.writable = !parts_.pages.comes_as_copy(range.first);
  migration.not_before = now;
  migration.operation = operation;
  add(migration);
}

void Migrations::start_waiting(const HostCycle& cycle) {
  while (!waiting_.empty()) {
    const std::uint32_t index = waiting_.front();
    const PageRange range = migrations_[index].range;
    const std::uint64_t pages = parts_.driver.mapped_pages(range.count * page_bytes);
    const TenantPages wanted{parts_.pages.owner(range.first).tenant,
                             parts_.pages.virtual_page(range.first), pages};
    if (!parts_.driver.settle(wanted, cycle)) return;
    std::vector<FrameRun> frames = parts_.driver.take_frames(wanted, true);
    if (frames.empty()) {
      if (!find_room(pages, cycle)) return;
      continue;
    }
    waiting_.pop_front();
    start(index, std::move(frames), cycle);
  }
}

bool Migrations::find_room(std::uint64_t pages, const HostCycle& cycle) {
  const ManagedPages& managed = parts_.pages;
  const std::uint64_t coming = parts_.driver.free_bytes() / page_bytes + managed.leaving();
  const bool fault = migrations_[waiting_.front()].fault;
  if (!fault && coming + managed.resident() + managed.arriving() < pages) {
    if (!split_first(cycle)) drop(waiting_.begin(), cycle);
    return true;
  }
  if (coming >= pages && managed.leaving() > 0) return false;
  const std::uint64_t wanted = coming < pages ? pages - coming : pages;
  if (parts_.evictor.evict(wanted, cycle) || managed.leaving() > 0 || mapping_ > 0) return false;
  return starved(cycle);
}

void Migrations::start(std::uint32_t index, std::vector<FrameRun> frames, const HostCycle& cycle) {
  Migration& migration = migrations_[index];
  const PageRange range = migration.range;
  const std::uint16_t tenant = parts_.pages.owner(range.first).tenant.value();
  migration.frames = std::move(frames);
  HostStatistics& statistics = cycle.statistics;
  if (!migration.taken_in)
    (migration.fault ? statistics.pages_demanded : statistics.pages_prefetched)[tenant] +=
        range.count;
  if (!migration.fault && !migration.taken_in) parts_.pages.set(range, ManagedPages::prefetched);
  ++mapping_;
  parts_.pages.withdraw(range);  // the entries of withdrawn pages are overwritten
  parts_.pages.occupy(range);
  if (parts_.pages.fetch(range)) return fetching_.push_back(index);
  bring(index, cycle);
}

void Migrations::map(std::uint32_t index, const HostCycle& cycle) {
  Migration& migration = migrations_[index];
  std::vector<FrameRun> frames = std::exchange(migration.frames, {});
  MapRequest request =
      migration_request(migration, std::move(frames), parts_.pages, parts_.directory, cycle);
  request.owner = index;
  parts_.driver.map(std::move(request), cycle);
}

void Migrations::map_remote(const Migration& migration, const HostCycle& cycle) {
  const Allocation& a = parts_.pages.owner(migration.range.first);
  MapRequest request;
  request.owner = begin(migration);
  request.pages = {a.tenant, a.virtual_page_of(migration.range.first), migration.range.count};
  request.flags = PageTableEntry::writable;
  request.remote = parts_.directory.remote_address(a.tenant, a.buffer) +
                   (migration.range.first - a.first) * page_bytes;
  ++mapping_;
  parts_.pages.withdraw(migration.range);
  parts_.driver.map(std::move(request), cycle);
}

void Migrations::map_peer(const Migration& migration, std::vector<FrameRun> frames,
                          const HostCycle& cycle) {
  const Allocation& a = parts_.pages.owner(migration.range.first);
  MapRequest request;
  request.owner = begin(migration);
  request.pages = {a.tenant, a.virtual_page_of(migration.range.first),
                   parts_.driver.mapped_pages(migration.range.count * page_bytes)};
  request.flags = PageTableEntry::writable | PageTableEntry::remote;
  request.frames = std::move(frames);
  ++mapping_;
  parts_.driver.map(std::move(request), cycle);
}

void Migrations::make_writable(const Migration& migration, const HostCycle& cycle) {
  parts_.pages.reopen(migration.range, cycle.statistics);
  const Allocation& a = parts_.pages.owner(migration.range.first);
  MapRequest request;
  request.owner = store(migration);
  request.pages = {a.tenant, a.virtual_page_of(migration.range.first),
                   parts_.driver.mapped_pages(migration.range.count * page_bytes)};
  request.flags = PageTableEntry::writable;
  request.frames = parts_.driver.tables().frames_of(request.pages);
  ++mapping_;
  parts_.driver.map(std::move(request), cycle);
}

void Migrations::mapped(std::uint32_t index, const HostCycle& cycle) {
  const Migration migration = take(index);
  --mapping_;
  HostStatistics& statistics = cycle.statistics;
  const std::uint16_t tenant = parts_.pages.owner(migration.range.first).tenant.value();
  for (const PageFault& late : parts_.faults.take_awaited(migration.range))
    statistics.late_wait[tenant].add(nanoseconds(cycle.now - late.arrived));
  parts_.log.mapped(migration.record, cycle.now);
  if (migration.fault)
    statistics.fault_transfer[tenant].add(nanoseconds(cycle.now - migration.served));
  if (migration.remote) {
    parts_.pages.stay_remote(migration.range);
    return parts_.pages.tell_mapping(migration.range);
  }
  parts_.pages.arrive(migration.range, migration.writable, statistics);
  parts_.pages.tell_arrival(migration.range, migration.writable, cycle.now);
  parts_.operations.one_done(migration.operation);
}

void Migrations::serialize(Archive& archive) {
  archive(migrations_, free_, waiting_, fetching_, mapping_);
}

}  // namespace lockstep
