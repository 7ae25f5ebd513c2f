/// Shortage of GPU memory with nothing to evict: migrations that wait for room get smaller or are
/// given up.
#include <algorithm>

#include "core/error/error.hpp"
#include "models/driver/managed/migrations.hpp"

namespace lockstep {

/// Gives up pages that were to come; awaited pages fault again.
void Migrations::give_up(PageRange range, Time now) {
  parts_.pages.give_up(range);
  for (const PageFault& late : parts_.faults.take_awaited(range))
    parts_.faults.push_again(late, now);
}

/// Drops a migration without room. Faulting pages get an answer for a tenant that ends.
void Migrations::drop(std::deque<std::uint32_t>::iterator which, const HostCycle& cycle) {
  const Migration migration = take(*which);
  waiting_.erase(which);
  if (migration.fault) {
    parts_.faults.take_awaited(migration.range);
    const Allocation& a = parts_.pages.owner(migration.range.first);
    for (ManagedPage page = migration.range.first; page < migration.range.end(); ++page)
      parts_.driver.announce_invalid(a.tenant, a.virtual_page_of(page), cycle);
  }
  give_up(migration.range, cycle.now);
  parts_.operations.one_done(migration.operation);
}

/// Drops the waiting migrations of a tenant that ends: they would delay its end while others wait
/// for it. Returns whether there were any.
bool Migrations::drop_those_of_leaving(const HostCycle& cycle) {
  const auto leaves = [&](std::uint32_t index) {
    return parts_.directory.is_leaving(parts_.pages.owner(migrations_[index].range.first).tenant);
  };
  bool dropped = false;
  for (auto which = waiting_.begin();
       (which = std::find_if(waiting_.begin(), waiting_.end(), leaves)) != waiting_.end();) {
    drop(which, cycle);
    dropped = true;
  }
  return dropped;
}

bool Migrations::somebody_leaves() const {
  for (std::size_t tenant = 0; tenant < tenants_; ++tenant)
    if (parts_.directory.is_leaving(TenantId{static_cast<std::uint16_t>(tenant)})) return true;
  return false;
}

/// Halves the first migration.  Of pages that came along with a fault, which is on the last page
/// (split_moves), the first half stays where it is; pages of a prefetch step come afterwards.
/// Returns false if there is only one granule, or if the pages came along with others and must not
/// thrash for them.
bool Migrations::split_first(const HostCycle& cycle) {
  Migration& migration = migrations_[waiting_.front()];
  const std::uint64_t granule = parts_.pages.granule();
  const bool asked_for = migration.fault || migration.operation != PrefetchOperations::none;
  if (!asked_for || migration.range.count <= granule) return false;
  const std::uint64_t half = std::max(granule, migration.range.count / 2 / granule * granule);
  const PageRange first{migration.range.first, half};
  const PageRange second{migration.range.first + half, migration.range.count - half};
  if (migration.fault) {
    migration.range = second;
    parts_.log.shorten(migration.record, first.count);
    give_up(first, cycle.now);
    return true;
  }
  Migration rest = migration;
  parts_.operations.expect_one(rest.operation);
  rest.range = second;
  migration.range = first;
  waiting_.insert(waiting_.begin() + 1, store(rest));
  return true;
}

void Migrations::fail_first() {
  const PageRange range = migrations_[waiting_.front()].range;
  const Allocation& a = parts_.pages.owner(range.first);
  const auto [where, name] = parts_.directory.describe(a.tenant, a.buffer);
  const std::string missing =
      ": there is no room for page " + std::to_string(range.first - a.first) + " of " + name;
  const std::string capacity =
      std::to_string(parts_.driver.page_manager().frames().capacity() >> 10) + " KiB";
  const UserError error =
      parts_.evictor.evicts()
          ? UserError(where,
                      "GPU memory is full and no page of it can be evicted" + missing + ", since " +
                          capacity + " hold device buffers and page tables",
                      "raise gpu.memory.capacity or make more buffers managed")
          : UserError(where,
                      "GPU memory is full and policies.eviction is " + parts_.evictor.name() +
                          missing + " in " + capacity,
                      "raise gpu.memory.capacity or choose an eviction policy");
  failures_.push_back({a.tenant, error.what()});
}

/// Helps the first waiting migration when nothing moves and nothing can be evicted: it gets
/// smaller, or waits for the memory of an ending tenant or of a buffer being freed, or its own
/// tenant ends. Returns false if nothing else is to be tried before memory has become free.
bool Migrations::starved(const HostCycle& cycle) {
  if (drop_those_of_leaving(cycle) || split_first(cycle)) return true;
  if (somebody_leaves() || !parts_.driver.idle()) return false;
  const bool fails = migrations_[waiting_.front()].fault;
  if (fails) fail_first();
  drop(waiting_.begin(), cycle);
  return !fails;
}

}  // namespace lockstep
