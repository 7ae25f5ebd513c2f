/// From fault to migration: the driver's server, its costs, what the prefetcher adds.
///
/// Costs (virtual-memory-and-exceptions.md, 3.5).  uvmsmart: the server is busy `handling` per
/// fault (or block, or batch), then the transfer starts.  tanasic: the server is busy
/// `cpu_service`, the transfer starts then, and the replay reaches the GMMU `migrate` or `allocate`
/// after the fault was found, plus what it waited for the server.  linear: `handling` side by side,
/// then the transfer.
#include <algorithm>

#include "core/engine/outbox.hpp"
#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/driver/managed_memory.hpp"

namespace lockstep {

namespace {

/// Large pages move whole, each by itself.
void plan_granules(const std::vector<PageRange>& moves, std::span<const ManagedPage> faults,
                   std::uint64_t granule, std::vector<PlannedTransfer>& transfers) {
  for (const PageRange& move : moves) {
    for (ManagedPage first = move.first; first < move.end(); first += granule) {
      const PageRange pages{first, std::min(granule, move.end() - first)};
      const auto fault = std::lower_bound(faults.begin(), faults.end(), first);
      transfers.push_back({pages, fault != faults.end() && *fault < pages.end()});
    }
  }
}

}  // namespace

void ManagedMemory::fault(const MessageHeader& message, const DriverContext& context) {
  const auto& body = message.body<FarFault>();
  const std::size_t notes = message.payload_bytes / sizeof(AccessNote);
  for (std::size_t i = 0; i < notes; ++i) {
    AccessNote note;
    std::memcpy(&note, message.payload_data() + i * sizeof note, sizeof note);
    const Allocation* a = residency_.find(note.tenant, note.page);
    if (a == nullptr) continue;
    const ManagedPage page = a->first + (note.page - a->virtual_page);
    if (residency_.place(page) == PagePlace::gpu) setup_.eviction->accessed(page);
  }
  const Allocation* a = residency_.find(body.tenant, body.page);
  if (a == nullptr) {
    ++context.statistics.faults_invalid[body.tenant];
    context.driver.announce_invalid(body.tenant, body.page, context.now, context.outbox);
    return;
  }
  ++context.statistics.far_faults[body.tenant];
  const ManagedPage page = a->first + (body.page - a->virtual_page);
  context.statistics.late_hits[body.tenant] += residency_.place(page) == PagePlace::arriving;
  queue_.push_back(
      {page, body.found, context.now, context.now, body.write != 0 || body.permission != 0});
}

/// Faults that need no page moved: it is there, on its way, or away on business.
bool ManagedMemory::serve_without_moving(const Fault& fault, const DriverContext& context) {
  const Allocation& a = residency_.owner(fault.page);
  switch (residency_.place(fault.page)) {
    case PagePlace::arriving:
      marks_[fault.page] |= awaited;
      awaited_.push_back(fault);
      return true;
    case PagePlace::gpu:
      if (fault.write && (marks_[fault.page] & duplicate) != 0) return false;
      [[fallthrough]];
    case PagePlace::remote:
      // It came while the fault was waiting, or the news of its coming crossed the fault.
      context.statistics.late_wait[a.tenant].add(nanoseconds(context.now - fault.arrived));
      context.driver.announce(a.tenant, virtual_page(a, fault.page), 1, context.now,
                              context.outbox);
      return true;
    case PagePlace::leaving:
      deferred_.push_back(fault);
      return true;
    case PagePlace::host:
      if (buffer_of(fault.page).holds == 0) return false;
      deferred_.push_back(fault);
      return true;
  }
  return false;
}

bool ManagedMemory::together(const Fault& first, const Fault& other) const {
  const bool same_cycle = other.queued == first.queued;
  switch (setup_.fault.batch) {
    case FaultBatch::per_page:
      return same_cycle && other.page == first.page;
    case FaultBatch::per_block:
      return same_cycle &&
             residency_.owner_index(other.page) == residency_.owner_index(first.page) &&
             other.page / pages_per_block == first.page / pages_per_block;
    case FaultBatch::per_batch:
      return same_cycle;
    case FaultBatch::all_waiting:
      return true;
  }
  return false;
}

ManagedMemory::Fault ManagedMemory::take_next() {
  std::size_t next = 0;
  const auto tenant = [&](std::size_t i) { return residency_.owner(queue_[i].page).tenant; };
  for (std::size_t i = 1; i < queue_.size() && setup_.fault.order != TenantOrder::fifo; ++i)
    if (turns_.rank(tenant(i), i) < turns_.rank(tenant(next), next)) next = i;
  const Fault fault = queue_[next];
  turns_.took(tenant(next));
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(next));
  return fault;
}

/// The server takes the next fault of its queue and those handled together with it.
void ManagedMemory::form_unit(const DriverContext& context) {
  const Fault first = take_next();
  if (serve_without_moving(first, context)) return;
  Unit unit;
  unit.faults.push_back(first);
  const bool all = setup_.fault.batch == FaultBatch::all_waiting;
  for (auto other = queue_.begin();
       other != queue_.end() && (all || other->queued <= first.queued);) {
    if (!together(first, *other)) {
      ++other;
      continue;
    }
    if (!serve_without_moving(*other, context)) unit.faults.push_back(*other);
    other = queue_.erase(other);
  }
  charge(unit, context.now);
  units_.push_back(std::move(unit));
}

void ManagedMemory::charge(Unit& unit, Time now) {
  const HostFaultParameters& p = setup_.fault;
  const auto has_data = [&](const Fault& fault) { return moves_data({fault.page, 1}); };
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

Time ManagedMemory::replay_time(const Unit& unit, bool moves_data, Time now) const {
  if (setup_.fault.cost_model != FaultCost::tanasic) return now;
  const Time constant = moves_data ? setup_.fault.migrate : setup_.fault.allocate;
  const Fault& first = unit.faults.front();
  return first.found + (unit.started - first.arrived) + constant - setup_.link_latency;
}

bool ManagedMemory::moves_data(PageRange range) const {
  const Allocation& a = residency_.owner(range.first);
  for (ManagedPage page = range.first; page < range.end(); ++page)
    if (setup_.has_data(a.tenant, a.buffer, page - a.first)) return true;
  return false;
}

/// The server has handled the faults: pages move.
void ManagedMemory::begin_unit(const Unit& unit, const DriverContext& context) {
  HostStatistics& statistics = context.statistics;
  std::vector<ManagedPage> pages;
  std::uint64_t handled = 0;
  for (const Fault& fault : unit.faults) {
    if (serve_without_moving(fault, context)) continue;
    ++handled;
    const std::uint16_t tenant = residency_.owner(fault.page).tenant;
    statistics.fault_queue[tenant].add(nanoseconds(unit.started - fault.arrived));
    statistics.fault_service[tenant].add(nanoseconds(unit.begin - unit.started));
    if (residency_.place(fault.page) == PagePlace::gpu) {
      make_writable(unit, fault, context);
    } else if (buffer_of(fault.page).preferred == PreferredPlace::host) {
      map_remote(unit, fault, context);
    } else {
      pages.push_back(fault.page);
    }
  }
  if (handled == 0) return;
  const std::uint16_t tenant = residency_.owner(unit.faults.front().page).tenant;
  ++statistics.fault_batches[tenant];
  statistics.batch_faults[tenant].add(handled);
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  std::uint64_t asked_for = 0;
  for (auto first = pages.begin(); first != pages.end();) {
    const ManagedPage end = residency_.owner(*first).end();
    const auto last = std::lower_bound(first, pages.end(), end);
    asked_for += warm({first, last}, unit, context);
    first = last;
  }
  statistics.batch_pages[tenant].add(asked_for);
}

/// Faulting pages of one allocation, in order, and what the prefetcher adds; pages asked for.
std::uint64_t ManagedMemory::warm(std::span<const ManagedPage> pages, const Unit& unit,
                                  const DriverContext& context) {
  HostStatistics& statistics = context.statistics;
  const Allocation& a = residency_.owner(pages.front());
  for (const ManagedPage page : pages)
    if (marks_[page] & evicted) ++statistics.thrashed_pages[a.tenant];
  const auto stores_in = [&](PageRange range) {
    return std::any_of(unit.faults.begin(), unit.faults.end(), [&](const Fault& fault) {
      return fault.write && fault.page >= range.first && fault.page < range.end();
    });
  };
  // Only what is stored to leaves the host for good; a large entry has one permission.
  const bool copies = buffer_of(pages.front()).read_mostly && context.driver.granule_pages() == 1;

  std::vector<PageRange> moves;
  setup_.prefetcher->choose({residency_, a, pages, setup_.seed, fault_numbers_[a.tenant]++,
                             &statistics.tree_prefetches[a.tenant]},
                            moves);
  std::vector<PlannedTransfer> transfers;
  if (context.driver.granule_pages() > 1) {
    widen(moves, context);
    plan_granules(moves, pages, context.driver.granule_pages(), transfers);
  } else {
    const bool apart = copies && stores_in({a.first, a.pages});
    split_moves(moves, pages, apart ? FaultSplit::isolate : setup_.fault.split, transfers);
  }
  std::uint64_t asked_for = 0;
  for (const PlannedTransfer& transfer : transfers) {
    const bool data = moves_data(transfer.pages);
    Migration migration;
    migration.fault = transfer.fault;
    migration.served = context.now;
    migration.writable = !copies || stores_in(transfer.pages);
    migration.range = transfer.pages;
    migration.not_before = replay_time(unit, data, context.now);
    if (transfer.fault) {
      ++(data ? statistics.faults_migrated : statistics.faults_allocated)[a.tenant];
      migration.record = record(unit, transfer.pages, data);
    }
    asked_for += transfer.pages.count;
    add_migration(migration);
  }
  return asked_for;
}

/// The row of the first fault of these pages; its number, or none.
std::uint32_t ManagedMemory::record(const Unit& unit, PageRange range, bool data) {
  if (!setup_.record_faults) return none;
  const auto inside = [&](const Fault& fault) {
    return fault.page >= range.first && fault.page < range.end();
  };
  const auto fault = std::find_if(unit.faults.begin(), unit.faults.end(), inside);
  LOCKSTEP_CHECK(fault != unit.faults.end(), "nobody faulted on these pages");
  const Allocation& a = residency_.owner(range.first);
  records_.push_back({a.tenant, virtual_page(a, range.first),
                      static_cast<std::uint32_t>(range.count), data, fault->found, fault->arrived,
                      unit.begin, Time::never()});
  return static_cast<std::uint32_t>(records_.size() - 1);
}

/// Whole granules of the page manager: their pages are always in the same place.
PageRange ManagedMemory::widened(PageRange range, const DriverContext& context) const {
  const std::uint64_t granule = context.driver.granule_pages();
  const Allocation& a = residency_.owner(range.first);
  const ManagedPage first = range.first / granule * granule;
  const ManagedPage end = std::min(round_up(range.end(), granule), a.first + a.pages);
  return {first, end - first};
}

void ManagedMemory::widen(std::vector<PageRange>& moves, const DriverContext& context) const {
  std::vector<PageRange> wide;
  for (const PageRange& move : moves) {
    const PageRange whole = widened(move, context);
    if (!wide.empty() && wide.back().end() >= whole.first) {
      wide.back().count = whole.end() - wide.back().first;
    } else {
      wide.push_back(whole);
    }
  }
  moves = std::move(wide);
}

/// preferred: host.  The page stays where it is and the GPU reaches it over the link.
void ManagedMemory::map_remote(const Unit& unit, const Fault& fault, const DriverContext& context) {
  const Allocation& a = residency_.owner(fault.page);
  Migration migration;
  migration.fault = migration.remote = true;
  migration.served = context.now;
  migration.range = widened({fault.page, 1}, context);
  migration.record = record(unit, migration.range, false);
  ++context.statistics.faults_remote[a.tenant];
  MapRequest request;
  request.owner = begin_migration(migration);
  request.tenant = a.tenant;
  request.page = virtual_page(a, migration.range.first);
  request.count = migration.range.count;
  request.flags = PageTableEntry::writable;
  request.remote =
      setup_.remote_address(a.tenant, a.buffer) + (migration.range.first - a.first) * page_bytes;
  ++mapping_;
  context.driver.map(std::move(request), context.now, context.link, context.outbox);
}

/// A store to a read-mostly page: the host's copy is no longer one.  Until the entry says so the
/// page is on its way like any other, so that nothing takes it meanwhile.
void ManagedMemory::make_writable(const Unit& unit, const Fault& fault,
                                  const DriverContext& context) {
  const Allocation& a = residency_.owner(fault.page);
  Buffer& buffer = buffer_of(fault.page);
  Migration migration;
  migration.fault = true;
  migration.served = context.now;
  migration.range = widened({fault.page, 1}, context);
  migration.record = record(unit, migration.range, false);
  ++context.statistics.faults_permission[a.tenant];
  for (ManagedPage page = migration.range.first; page < migration.range.end(); ++page)
    setup_.eviction->left(page);
  resident_pages_ -= migration.range.count;
  context.statistics.resident_pages[a.tenant] -= migration.range.count;
  arriving_pages_ += migration.range.count;
  buffer.resident -= migration.range.count;
  buffer.duplicates -= migration.range.count;
  MapRequest request;
  request.owner = begin_migration(migration);
  request.tenant = a.tenant;
  request.page = virtual_page(a, migration.range.first);
  request.count = context.driver.mapped_pages(migration.range.count * page_bytes);
  request.flags = PageTableEntry::writable;
  request.frames = context.driver.frames_of(a.tenant, request.page, request.count);
  ++mapping_;
  context.driver.map(std::move(request), context.now, context.link, context.outbox);
}

}  // namespace lockstep
