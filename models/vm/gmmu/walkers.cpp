#include "models/vm/gmmu/walkers.hpp"

#include <algorithm>
#include <string>

#include "core/error/error.hpp"

namespace lockstep {

namespace {

/// Number of pages that four levels of 9 bits can reach. No buffer lies beyond them.
constexpr std::uint64_t reachable_pages = std::uint64_t{1} << (9 * walk_levels);

}  // namespace

std::uint32_t Walkers::find(TenantPage where) const {
  const auto place = std::find(keys_.begin(), keys_.end(), TlbKey::base(where));
  return place == keys_.end() ? none : static_cast<std::uint32_t>(place - keys_.begin());
}

std::uint32_t Walkers::make(TenantPage where, std::int64_t cycle) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(walks_.size()));
    walks_.emplace_back();
    keys_.push_back(TlbKey{});
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  keys_[index] = TlbKey::base(where);
  Walk& walk = walks_[index];
  walk.page = where.page.value();
  walk.tenant = where.tenant.value();
  walk.used = true;
  walk.asked = walk.queued = cycle;
  queue_.push_back(index);
  ++used_;
  return index;
}

void Walkers::set_root(TenantId tenant, PhysicalAddress table) {
  roots_[tenant.value()] = table;
  for (Walk& walk : walks_)
    if (walk.used && walk.where().tenant == tenant) walk.stale = walk.active;
}

void Walkers::translate(const TranslateRequest& request, std::int64_t cycle) {
  std::uint32_t index = find(request.where());
  if (index == none) {
    index = make(request.where(), cycle);
  } else if (!walks_[index].requests.empty()) {
    ++statistics_.merged[request.tenant];
  }
  Walk& walk = walks_[index];
  if (walk.requests.empty()) {
    ++translations_;
    path_.walks(walk.where().tenant, true);
  }
  walk.requests.push_back(request);
}

void Walkers::written(TenantPage where, std::int64_t cycle) {
  const std::uint32_t index = find(where);
  walks_[index == none ? make(where, cycle) : index].written = true;
}

void Walkers::begin_walk(std::uint32_t index, GmmuCycle& cycle) {
  Walk& walk = walks_[index];
  --free_walkers_;
  walk.active = true;
  walk.begun = cycle.number;
  const auto waited = static_cast<std::uint64_t>(cycle.number - walk.queued);
  statistics_.walk_queue_cycles[walk.tenant] += waited;
  statistics_.walker_wait_behind.at(walk.tenant, last_tenant_) += waited;
  ++statistics_.walks[walk.tenant];
  const std::int64_t fixed = parameters_.walk_latency.count();
  if (walk.page >= reachable_pages || (fixed == 0 && roots_[walk.tenant] == PhysicalAddress{})) {
    walk.done = true;
  } else if (fixed > 0) {
    timers_.push_back({cycle.number + fixed, index});
  } else {
    go_to(index, 1, roots_[walk.tenant], cycle);
  }
}

void Walkers::go_to(std::uint32_t index, unsigned level, PhysicalAddress table, GmmuCycle& cycle) {
  Walk& walk = walks_[index];
  walk.level = static_cast<std::uint8_t>(level);
  walk.place = table + table_index(walk.table_page(), level) * sizeof(PageTableEntry);
  if (level_latency_ == 0) {
    read(index, cycle);
  } else {
    timers_.push_back({cycle.number + level_latency_, index});
  }
}

void Walkers::read(std::uint32_t index, GmmuCycle& cycle) {
  const Walk& walk = walks_[index];
  ++statistics_.walk_reads[walk.tenant];
  memory_.read(index, walk.where(), walk.level, walk.place, cycle);
}

void Walkers::read_done(std::uint32_t index, const std::byte* sector, GmmuCycle& cycle) {
  const Walk& walk = walks_[index];
  LOCKSTEP_CHECK(walk.active && !walk.done, "an entry came for no walk");
  const PageTableEntry entry = TableMemory::entry_in(sector, walk.place);
  if (!walk.stale && entry.is(PageTableEntry::present))
    path_.keep_level(walk.table_where(), walk.level, entry);
  descend(index, entry, cycle);
}

std::uint32_t Walkers::timer_done(GmmuCycle& cycle) {
  if (next_timer() > cycle.number) return none;
  const std::uint32_t index = timers_.front().second;
  timers_.pop_front();
  Walk& walk = walks_[index];
  if (parameters_.walk_latency.count() > 0) {
    walk.result = mirror_.find(walk.where());
    walk.done = true;
    return index;
  }
  const PageTableEntry* kept = path_.find_level(walk.table_where(), walk.level);
  // A permission may have been widened since it was read.
  if (kept && walk.level == walk_levels && walk.for_store() && !kept->is(PageTableEntry::writable))
    kept = nullptr;
  ++(kept ? statistics_.walk_cache_hits : statistics_.walk_cache_misses)[walk.tenant];
  if (kept) {
    descend(index, *kept, cycle);
  } else {
    read(index, cycle);
  }
  return index;
}

void Walkers::descend(std::uint32_t index, PageTableEntry entry, GmmuCycle& cycle) {
  Walk& walk = walks_[index];
  if (walk.stale || !entry.is(PageTableEntry::present)) {
    if (walk.level == walk_levels) walk.result = entry;
    walk.done = true;
  } else if (walk.level == walk_levels) {
    walk.result = {entry.bits | (walk.large ? PageTableEntry::large : 0)};
    walk.done = true;
  } else {
    if (walk.level == walk_levels - 1) walk.large = entry.is(PageTableEntry::large);
    go_to(index, walk.level + 1u, PhysicalAddress{entry.address()}, cycle);
  }
}

void Walkers::free_walker(const Walk& walk, std::int64_t cycle) {
  ++free_walkers_;
  last_tenant_ = walk.tenant;
  statistics_.walk_cycles[walk.tenant] += static_cast<std::uint64_t>(cycle - walk.begun);
}

void Walkers::again(std::uint32_t index, std::int64_t cycle) {
  Walk& walk = walks_[index];
  free_walker(walk, cycle);
  ++statistics_.walks_restarted[walk.tenant];
  walk.active = walk.stale = walk.large = walk.done = false;
  walk.result = {};
  walk.queued = cycle;
  queue_.push_back(index);
}

void Walkers::end(std::uint32_t index, std::int64_t cycle) {
  Walk& walk = walks_[index];
  free_walker(walk, cycle);
  if (!walk.requests.empty()) {
    --translations_;
    path_.walks(walk.where().tenant, false);
    statistics_.walk_latency[walk.tenant].add(static_cast<std::uint64_t>(cycle - walk.asked));
  }
  std::vector<TranslateRequest> requests = std::move(walk.requests);
  requests.clear();
  walk = Walk{};
  walk.requests = std::move(requests);
  keys_[index] = TlbKey{};
  free_.push_back(index);
  --used_;
}

void Walkers::release(const PageSpan& span, std::int64_t cycle) {
  std::vector<std::uint32_t> still;
  for (const std::uint32_t index : set_aside_) {
    Walk& walk = walks_[index];
    if (span.covers(walk.where())) {
      walk.queued = cycle;
      queue_.push_back(index);
    } else {
      still.push_back(index);
    }
  }
  set_aside_ = std::move(still);
}

std::string Walkers::waiting_for() const {
  if (used_ == 0) return "";
  return std::to_string(parameters_.walkers - free_walkers_) + " page walks, " +
         std::to_string(queue_.size()) + " waiting for a walker, " +
         std::to_string(set_aside_.size()) + " for an unmapping";
}

void Walk::serialize(Archive& archive) {
  archive(page, tenant, level, used, active, stale, written, large, done, place, result.bits, asked,
          queued, begun, requests);
}

void Walkers::serialize(Archive& archive) {
  std::uint64_t count = walks_.size();
  archive(count);
  archive.require(count);
  walks_.resize(count);
  for (Walk& walk : walks_) walk.serialize(archive);
  archive(roots_, keys_, free_, queue_, set_aside_, timers_, free_walkers_, used_, translations_,
          last_tenant_);
}

}  // namespace lockstep
