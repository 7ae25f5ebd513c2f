/// GPU memory runs short: pages are evicted, and what waits for room does with less or without.
///
/// Source: virtual-memory-and-exceptions.md, 10 (eviction as 001 describes it); architecture.md,
/// section 8, rule 7.  What happens when nothing can be evicted is ours: the papers stop there.
#include <algorithm>

#include "core/error/error.hpp"
#include "models/driver/managed_memory.hpp"

namespace lockstep {

bool ManagedMemory::evictable(ManagedPage page) const {
  const Buffer& buffer = buffer_of(page);
  return residency_.place(page) == PagePlace::gpu &&
         !(spare_preferred_ && buffer.preferred == PreferredPlace::gpu);
}

bool ManagedMemory::evict(std::uint64_t pages, const DriverContext& context) {
  std::vector<PageRange> victims;
  tree_evictions_ = &context.statistics.tree_evictions;
  for (const bool spare : {true, false}) {
    spare_preferred_ = spare;
    setup_.eviction->choose(*this, pages, evictions_, victims);
    if (!victims.empty()) break;
  }
  spare_preferred_ = true;
  if (victims.empty()) return false;
  ++evictions_;
  const std::uint64_t granule = context.driver.granule_pages();
  for (PageRange range : victims) {
    if (granule > 1) {
      range = widened(range, context);
      if (residency_.place(range.first) != PagePlace::gpu) continue;  // taken by the range before
    }
    context.statistics.pages_evicted[residency_.owner(range.first).tenant] += range.count;
    for (ManagedPage page = range.first; page < range.end(); ++page) marks_[page] |= evicted;
    depart(range, true, 0, context);
  }
  return true;
}

/// Pages that were to come stay; those that are awaited fault anew.
void ManagedMemory::give_up(PageRange range, const DriverContext& context) {
  for (ManagedPage page = range.first; page < range.end(); ++page)
    residency_.set_place(page, PagePlace::host);
  buffer_of(range.first).moving -= range.count;
  for (Fault late : take_awaited(range)) {
    late.queued = context.now;
    queue_.push_back(late);
  }
}

/// There is no room for what waits.  Pages that faulted are answered, for a tenant that ends.
void ManagedMemory::drop_waiting(std::deque<std::uint32_t>::iterator which,
                                 const DriverContext& context) {
  const std::uint32_t index = *which;
  Migration& migration = migrations_[index];
  const Allocation& a = residency_.owner(migration.range.first);
  waiting_.erase(which);
  if (migration.fault) {
    take_awaited(migration.range);
    for (ManagedPage page = migration.range.first; page < migration.range.end(); ++page)
      context.driver.announce_invalid(a.tenant, virtual_page(a, page), context.now, context.outbox);
  }
  give_up(migration.range, context);
  if (migration.operation != 0) count_operation(migration.operation, -1);
  migration = Migration{};
  free_migrations_.push_back(index);
}

/// What a tenant that ends has waiting would keep it from ending while others wait for its end.
bool ManagedMemory::drop_waiting_of_leaving(const DriverContext& context) {
  const auto leaves = [&](std::uint32_t index) {
    return setup_.is_leaving(residency_.owner(migrations_[index].range.first).tenant);
  };
  bool dropped = false;
  for (auto which = waiting_.begin();
       (which = std::find_if(waiting_.begin(), waiting_.end(), leaves)) != waiting_.end();) {
    drop_waiting(which, context);
    dropped = true;
  }
  return dropped;
}

bool ManagedMemory::somebody_leaves() const {
  for (std::size_t tenant = 0; tenant < setup_.priorities.size(); ++tenant)
    if (setup_.is_leaving(static_cast<std::uint16_t>(tenant))) return true;
  return false;
}

/// Several pages do with room for half of them.  Of those that came along with a fault, which is on
/// the last page (split_moves), the first half stays where it is; those of a prefetch step come
/// afterwards.  False: they are as few as they can be, or came along with others, for which they
/// must not thrash.
bool ManagedMemory::split_first_waiting(const DriverContext& context) {
  Migration& migration = migrations_[waiting_.front()];
  const std::uint64_t granule = context.driver.granule_pages();
  const bool asked_for = migration.fault || migration.operation != 0;
  if (!asked_for || migration.range.count <= granule) return false;
  const std::uint64_t half = std::max(granule, migration.range.count / 2 / granule * granule);
  const PageRange first{migration.range.first, half};
  const PageRange second{migration.range.first + half, migration.range.count - half};
  if (migration.fault) {
    migration.range = second;
    if (migration.record != none) {
      FaultRecord& record = records_[migration.record];
      record.page += first.count;
      record.pages = static_cast<std::uint32_t>(second.count);
    }
    give_up(first, context);
    return true;
  }
  Migration rest = migration;
  count_operation(rest.operation, 1);
  buffer_of(migration.range.first).moving -= second.count;
  rest.range = second;
  migration.range = first;
  waiting_.insert(waiting_.begin() + 1, begin_migration(rest));
  return true;
}

void ManagedMemory::fail_first_waiting(const DriverContext& context) {
  const Migration& migration = migrations_[waiting_.front()];
  const Allocation& a = residency_.owner(migration.range.first);
  const auto [where, name] = setup_.describe(a.tenant, a.buffer);
  const std::string missing = ": there is no room for page " +
                              std::to_string(migration.range.first - a.first) + " of " + name;
  const std::string capacity = std::to_string(context.driver.capacity() >> 10) + " KiB";
  const UserError error =
      setup_.eviction->evicts()
          ? UserError(where,
                      "GPU memory is full and no page of it can be evicted" + missing + ", since " +
                          capacity + " hold device buffers and page tables",
                      "raise gpu.memory.capacity or make more buffers managed")
          : UserError(
                where,
                "GPU memory is full and policies.eviction is none" + missing + " in " + capacity,
                "raise gpu.memory.capacity or choose an eviction policy");
  failures_.push_back({a.tenant, error.what()});
}

/// Nothing moves and nothing can be evicted: what waits first does with less, or waits for the
/// memory of a tenant that is leaving or of a buffer that is being freed, or its own tenant ends.
/// False: nothing else is to be tried before memory has come free.
bool ManagedMemory::starved(const DriverContext& context) {
  if (drop_waiting_of_leaving(context) || split_first_waiting(context)) return true;
  if (somebody_leaves() || !context.driver.idle()) return false;
  const bool fails = migrations_[waiting_.front()].fault;
  if (fails) fail_first_waiting(context);
  drop_waiting(waiting_.begin(), context);
  return !fails;
}

}  // namespace lockstep
