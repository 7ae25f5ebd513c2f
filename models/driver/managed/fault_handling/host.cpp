#include "models/driver/managed/fault_handling/host.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/driver/managed/transfer_plan.hpp"

namespace lockstep {

namespace {

/// Returns whether one of the pages, which are in order, lies in the range.
bool is_any_in(std::span<const ManagedPage> pages, PageRange range) {
  const auto first = std::lower_bound(pages.begin(), pages.end(), range.first);
  return first != pages.end() && *first < range.end();
}

void sort_once(std::vector<ManagedPage>& pages) {
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
}

}  // namespace

Time HostFaultHandling::next_activity() const {
  Time next = units_.empty() ? Time::never() : units_.front().begin;
  if (!parts_.queue.empty()) next = std::min(next, std::max(server_free_, parts_.queue.first()));
  return next;
}

void HostFaultHandling::act(const HostCycle& cycle) {
  while (!parts_.queue.empty() && std::max(server_free_, parts_.queue.first()) <= cycle.now)
    form_unit(cycle);
  while (!units_.empty() && units_.front().begin <= cycle.now) {
    const Unit unit = std::move(units_.front());
    units_.pop_front();
    begin_unit(unit, cycle);
  }
}

void HostFaultHandling::form_unit(const HostCycle& cycle) {
  const PageFault first = parts_.queue.take_next();
  if (serve_without_moving(first, cycle)) return;
  Unit unit;
  unit.faults.push_back(first);
  for (const PageFault& other : parts_.queue.take_with(first))
    if (!serve_without_moving(other, cycle)) unit.faults.push_back(other);
  charge(unit, cycle.now);
  const std::uint16_t tenant = parts_.pages.owner(first.page).tenant.value();
  unit.behind = served_.value_or(tenant);
  served_ = tenant;
  units_.push_back(std::move(unit));
}

void HostFaultHandling::charge(Unit& unit, Time now) {
  const HostFaultParameters& p = parameters_;
  const auto has_data = [&](const PageFault& fault) {
    return parts_.pages.has_data({fault.page, 1}, parts_.directory);
  };
  unit.started = unit.begin = now;
  switch (p.cost_model) {
    case FaultCost::uvmsmart:
      unit.begin = server_free_ = now + p.handling;
      break;
    case FaultCost::linear:
      unit.begin = now + p.handling;
      break;
    case FaultCost::tanasic:
      if (p.serialize == FaultSerialization::cpu_and_link)
        unit.begin = server_free_ = now + p.cpu_service;
      if (p.serialize == FaultSerialization::whole_cost)
        server_free_ =
            now + (std::any_of(unit.faults.begin(), unit.faults.end(), has_data) ? p.migrate
                                                                                 : p.allocate);
      break;
  }
}

Time HostFaultHandling::replay_time(const Unit& unit, bool moves_data, Time now) const {
  if (parameters_.cost_model != FaultCost::tanasic) return now;
  const Time constant = moves_data ? parameters_.migrate : parameters_.allocate;
  const PageFault& first = unit.faults.front();
  return first.found + (unit.started - first.arrived) + constant - setup_.link_latency;
}

bool HostFaultHandling::serve_without_moving(const PageFault& fault, const HostCycle& cycle) {
  ManagedPages& pages = parts_.pages;
  const Allocation& a = pages.owner(fault.page);
  if (fault.counted) return serve_counted(fault, cycle);
  switch (pages.place(fault.page)) {
    case PagePlace::arriving:
      parts_.queue.await(fault);
      return true;
    case PagePlace::gpu:
      // The message will make the waiting SMs ask again.
      if (parts_.driver.rearranges({a.tenant, a.virtual_page_of(fault.page), 1})) return true;
      if (fault.write && pages.has(fault.page, ManagedPages::duplicate))
        return waits_for_others(fault, cycle);
      [[fallthrough]];
    case PagePlace::remote:
      // The page came while the fault was waiting, or the news of its coming crossed the fault.
      cycle.statistics.late_wait[a.tenant.value()].add(nanoseconds(cycle.now - fault.arrived));
      parts_.driver.announce({a.tenant, a.virtual_page_of(fault.page), 1}, cycle);
      return true;
    case PagePlace::leaving:
      parts_.queue.defer(fault);
      return true;
    case PagePlace::host:
      if (pages.buffer_of(fault.page).holds == 0) return waits_for_others(fault, cycle);
      parts_.queue.defer(fault);
      return true;
  }
  return false;
}

bool HostFaultHandling::serve_counted(const PageFault& fault, const HostCycle& cycle) {
  ManagedPages& pages = parts_.pages;
  switch (pages.place(fault.page)) {
    case PagePlace::remote:
      if (pages.attract(fault.page)) parts_.queue.defer(fault);
      return true;
    case PagePlace::leaving:
      if (pages.is_attracted(fault.page)) parts_.queue.defer(fault);
      return true;
    case PagePlace::host:
      if (!pages.is_attracted(fault.page)) return true;
      if (pages.buffer_of(fault.page).holds == 0) return waits_for_others(fault, cycle);
      parts_.queue.defer(fault);
      return true;
    default:
      return true;  // the page has come meanwhile, or is on its way
  }
}

bool HostFaultHandling::waits_for_others(const PageFault& fault, const HostCycle& cycle) {
  if (parts_.pages.may_come(fault.page, fault.write, cycle.now)) return false;
  parts_.queue.defer(fault);
  return true;
}

void HostFaultHandling::begin_unit(const Unit& unit, const HostCycle& cycle) {
  HostStatistics& statistics = cycle.statistics;
  std::vector<ManagedPage> pages, stored;
  std::uint64_t handled = 0;
  for (const PageFault& fault : unit.faults) {
    if (serve_without_moving(fault, cycle)) continue;
    ++handled;
    const std::uint16_t tenant = parts_.pages.owner(fault.page).tenant.value();
    statistics.fault_queue[tenant].add(nanoseconds(unit.started - fault.arrived));
    const auto waited = static_cast<std::uint64_t>((unit.started - fault.arrived).femtoseconds());
    statistics.fault_queue_time[tenant] += waited;
    statistics.fault_wait_behind.at(tenant, unit.behind) += waited;
    statistics.fault_service[tenant].add(nanoseconds(unit.begin - unit.started));
    if (parts_.pages.place(fault.page) == PagePlace::gpu) {
      ++statistics.faults_permission[tenant];
      parts_.migrations.make_writable(migration_of(fault, unit, cycle), cycle);
    } else if (parts_.pages.is_to_be_mapped(fault.page)) {
      ++statistics.faults_remote[tenant];
      Migration migration = migration_of(fault, unit, cycle);
      migration.remote = true;
      parts_.migrations.map_peer(migration, parts_.pages.borrow(fault.page), cycle);
    } else if (parts_.pages.buffer_of(fault.page).preferred == PreferredPlace::host) {
      ++statistics.faults_remote[tenant];
      Migration migration = migration_of(fault, unit, cycle);
      migration.remote = true;
      parts_.migrations.map_remote(migration, cycle);
    } else {
      pages.push_back(fault.page);
      if (fault.write) stored.push_back(fault.page);
    }
  }
  if (handled == 0) return;
  const std::uint16_t tenant = parts_.pages.owner(unit.faults.front().page).tenant.value();
  ++statistics.fault_batches[tenant];
  statistics.batch_faults[tenant].add(handled);
  sort_once(pages);
  sort_once(stored);
  std::uint64_t asked_for = 0;
  for (auto first = pages.begin(); first != pages.end();) {
    const ManagedPage end = parts_.pages.owner(*first).end();
    const auto last = std::lower_bound(first, pages.end(), end);
    asked_for += migrate({first, last}, stored, unit, cycle);
    first = last;
  }
  statistics.batch_pages[tenant].add(asked_for);
}

Migration HostFaultHandling::migration_of(const PageFault& fault, const Unit& unit,
                                          const HostCycle& cycle) {
  Migration migration;
  migration.fault = true;
  migration.served = cycle.now;
  migration.range = parts_.pages.whole_granules({fault.page, 1});
  migration.record = record(unit, migration.range, false);
  return migration;
}

std::uint64_t HostFaultHandling::migrate(std::span<const ManagedPage> pages,
                                         std::span<const ManagedPage> stored, const Unit& unit,
                                         const HostCycle& cycle) {
  HostStatistics& statistics = cycle.statistics;
  const Allocation& a = parts_.pages.owner(pages.front());
  const std::uint16_t tenant = a.tenant.value();
  for (const ManagedPage page : pages)
    if (parts_.pages.has(page, ManagedPages::evicted)) ++statistics.thrashed_pages[tenant];
  const auto is_copy = [&](ManagedPage page) { return parts_.pages.comes_as_copy(page); };
  const auto copies = std::count_if(pages.begin(), pages.end(), is_copy);
  const bool are_alike = copies == 0 || copies == static_cast<std::ptrdiff_t>(pages.size());
  const bool apart = !are_alike || (copies > 0 && is_any_in(stored, {a.first, a.pages}));
  std::uint64_t asked_for = 0;
  for (const PlannedTransfer& transfer : plan(pages, apart, cycle)) {
    const bool data = parts_.pages.has_data(transfer.pages, parts_.directory);
    Migration migration;
    migration.fault = transfer.fault;
    migration.served = cycle.now;
    migration.writable =
        !any_comes_as_copy(parts_.pages, transfer.pages) || is_any_in(stored, transfer.pages);
    migration.range = transfer.pages;
    migration.not_before = replay_time(unit, data, cycle.now);
    if (transfer.fault) {
      ++(data ? statistics.faults_migrated : statistics.faults_allocated)[tenant];
      migration.record = record(unit, transfer.pages, data);
    }
    asked_for += transfer.pages.count;
    parts_.migrations.add(migration);
  }
  return asked_for;
}

void HostFaultHandling::leave_others(std::span<const ManagedPage> faults,
                                     std::vector<PageRange>& moves) const {
  std::vector<PageRange> left;
  for (const PageRange& range : moves) {
    bool goes_on = false;  // the page before is the last one of `left`
    for (ManagedPage page = range.first; page < range.end(); ++page) {
      const bool comes_along =
          !parts_.pages.has(page, ManagedPages::offered) && !parts_.pages.is_elsewhere(page);
      const bool moves_too = comes_along || std::binary_search(faults.begin(), faults.end(), page);
      if (moves_too && goes_on) {
        ++left.back().count;
      } else if (moves_too) {
        left.push_back({page, 1});
      }
      goes_on = moves_too;
    }
  }
  moves = std::move(left);
}

/// `apart`: pages with stores do not migrate together with others.
std::vector<PlannedTransfer> HostFaultHandling::plan(std::span<const ManagedPage> pages, bool apart,
                                                     const HostCycle& cycle) {
  const Allocation& a = parts_.pages.owner(pages.front());
  const std::uint16_t tenant = a.tenant.value();
  std::vector<PageRange> moves;
  parts_.prefetcher.choose({parts_.pages.residency(), a, pages, setup_.seed,
                            fault_numbers_[tenant]++, &cycle.statistics.tree_prefetches[tenant]},
                           moves);
  const ManagedPages::Buffer& buffer = parts_.pages.buffer_of(pages.front());
  if (buffer.offered > 0 || buffer.is_shared()) leave_others(pages, moves);
  std::vector<PlannedTransfer> transfers;
  if (parts_.pages.granule() > 1) {
    plan_granules(parts_.pages, moves, pages, transfers);
  } else {
    split_moves(moves, pages, apart ? FaultSplit::isolate : parameters_.split, transfers);
  }
  return transfers;
}

std::uint32_t HostFaultHandling::record(const Unit& unit, PageRange range, bool data) {
  if (!parts_.log.enabled()) return FaultLog::none;
  const auto fault = std::find_if(unit.faults.begin(), unit.faults.end(),
                                  [&](const PageFault& f) { return f.is_in(range); });
  LOCKSTEP_CHECK(fault != unit.faults.end(), "nobody faulted on these pages");
  return parts_.log.add({parts_.pages.owner(range.first).tenant,
                         parts_.pages.virtual_page(range.first),
                         static_cast<std::uint32_t>(range.count), fault->position, data, false,
                         fault->found, fault->arrived, unit.begin, Time::never()});
}

void HostFaultHandling::serialize(Archive& archive) {
  archive(units_, server_free_, served_, fault_numbers_);
}

FaultHandlingRow host_fault_handling() {
  return {"host",
          "the driver on the CPU, over the host link (001, B.2; 000, 2.3)",
          {[](const PolicyChoice& choice, const FaultHandling::Setup& setup,
              const FaultHandling::Parts& parts) -> std::unique_ptr<FaultHandling> {
             return std::make_unique<HostFaultHandling>(choice.parameters<HostFaultParameters>(),
                                                        setup, parts);
           },
           [](const PolicyChoice& choice) { return choice.parameters<HostFaultParameters>(); }},
          &schema_of<HostFaultParameters>()};
}

}  // namespace lockstep
