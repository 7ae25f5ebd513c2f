#include "models/driver/managed/departures.hpp"

#include <algorithm>

#include "core/memory/slots.hpp"

namespace lockstep {

void Departures::start(PageRange range, const Reason& reason, const HostCycle& cycle) {
  const std::uint32_t index = take_slot(departures_, free_);
  Departure& departure = departures_[index] = {};
  departure.reason = reason;
  departure.range = range;
  departure.in_memory = pages_.place(range.first) == PagePlace::gpu ? range.count : 0;
  const bool is_borrowed = pages_.recall(range);
  pages_.leave(range, cycle.statistics);
  operations_.expect_one(reason.operation);
  if (is_borrowed) return recalled_.push_back(index);
  unmap(index, cycle);
}

void Departures::unmap(std::uint32_t index, const HostCycle& cycle) {
  const PageRange range = departures_[index].range;
  driver_.unmap({pages_.owner(range.first).tenant, pages_.virtual_page(range.first),
                 driver_.mapped_pages(range.count * page_bytes)},
                {UnmappingPart::departure, index}, cycle);
}

void Departures::go_on(const HostCycle& cycle) {
  for (const std::uint32_t index : std::exchange(recalled_, {})) {
    if (pages_.is_borrowed(departures_[index].range)) {
      recalled_.push_back(index);
    } else {
      unmap(index, cycle);
    }
  }
}

template <class Goes>
void Departures::start_runs(PageRange pages, Goes&& goes, const Reason& reason,
                            const HostCycle& cycle) {
  for (ManagedPage page = pages.first; page < pages.end(); ++page) {
    if (!goes(page)) continue;
    PageRange run{page, 1};
    while (run.end() < pages.end() && goes(run.end()) &&
           pages_.place(run.end()) == pages_.place(page))
      ++run.count;
    start(run, reason, cycle);
    page = run.end() - 1;
  }
}

void Departures::start_all(PageRange range, bool copies_too, const Reason& reason,
                           const HostCycle& cycle) {
  const auto goes = [&](ManagedPage page) {
    const PagePlace place = pages_.place(page);
    if (place == PagePlace::host) return pages_.has(page, ManagedPages::offered);
    if (place == PagePlace::remote) return !reason.keep_bytes;
    return place == PagePlace::gpu && (copies_too || !pages_.has(page, ManagedPages::duplicate));
  };
  start_runs(pages_.whole_granules(range), goes, reason, cycle);
}

void Departures::give_away(PageRange range, const HostCycle& cycle) {
  start_runs(
      range,
      [&](ManagedPage page) {
        return pages_.place(page) == PagePlace::gpu || pages_.place(page) == PagePlace::remote;
      },
      {}, cycle);
}

void Departures::withdraw(PageRange range, const HostCycle& cycle) {
  const auto goes = [&](ManagedPage page) {
    return pages_.place(page) == PagePlace::host && pages_.has(page, ManagedPages::offered);
  };
  start_runs(range, goes, {}, cycle);
}

void Departures::mapped_by_gpu(ManagedPage page) {
  const auto departure = std::find_if(
      departures_.begin(), departures_.end(),
      [&](const Departure& d) { return page >= d.range.first && page < d.range.end(); });
  ++departure->in_memory;
}

void Departures::count_use(ManagedPage page, PageTableEntry entry, HostStatistics& statistics) {
  if (!pages_.has(page, ManagedPages::prefetched)) return;
  const bool used = entry.is(PageTableEntry::accessed);
  ++(used ? statistics.prefetched_used
          : statistics.prefetched_unused)[pages_.owner(page).tenant.value()];
}

std::vector<Transfer> Departures::write_backs(std::uint32_t index,
                                              std::span<const std::uint64_t> entries,
                                              std::vector<FrameRun>& clean,
                                              HostStatistics& statistics) {
  Departure& departure = departures_[index];
  const PageRange range = departure.range;
  const Allocation& a = pages_.owner(range.first);
  const std::uint64_t bytes = directory_.bytes(a.tenant, a.buffer);
  std::vector<Transfer> transfers;
  bool goes_on = false;  // the page before is the last one of a transfer
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const PageTableEntry entry{entries[i]};
    // Pages from `range.count` on are the rest of a large page.
    const bool inside = i < range.count;
    const bool here = entry.is(PageTableEntry::present) && !entry.is(PageTableEntry::remote);
    const bool is_stored_to = entry.is(PageTableEntry::dirty) ||
                              (inside && pages_.has(range.first + i, ManagedPages::newer));
    const bool dirty = here && inside && departure.reason.keep_bytes && is_stored_to &&
                       !pages_.has(range.first + i, ManagedPages::duplicate);
    if (inside) count_use(range.first + i, entry, statistics);
    if (here) (dirty ? departure.frames : clean).push_back({entry.address(), page_bytes});
    if (dirty) {
      const std::uint64_t offset = (range.first - a.first + i) * page_bytes;
      if (!goes_on) {
        Transfer& transfer = transfers.emplace_back();
        transfer.kind = Transfer::Kind::to_host;
        transfer.rank = Transfer::Class::prefetch;
        transfer.tenant = a.tenant.value();
        transfer.buffer = a.buffer.value();
        transfer.offset = offset;
        transfer.owner = {TransferPart::write_back, index};
      }
      const std::uint64_t size = std::min(page_bytes, bytes - offset);
      transfers.back().bytes += size;
      append_frame(transfers.back().frames, PhysicalAddress{entry.address()}, size);
      ++statistics.pages_written_back[a.tenant.value()];
    }
    goes_on = dirty;
  }
  return transfers;
}

std::optional<Departures::Wanted> Departures::unmapped(const Unmapped& unmapped,
                                                       const HostCycle& cycle) {
  const std::uint32_t index = unmapped.owner.number;
  const Departure& departure = departures_[index];
  bool is_awaited = false;
  for (ManagedPage page = departure.range.first; page < departure.range.end(); ++page)
    is_awaited |= departure.in_memory > 0 && departure.reason.keep_bytes && pages_.is_awaited(page);
  if (!is_awaited) return go_home(index, unmapped.entries, cycle);
  split(index, unmapped.entries, cycle);
  return std::nullopt;
}

void Departures::split(std::uint32_t index, std::span<const std::uint64_t> entries,
                       const HostCycle& cycle) {
  const Departure whole = departures_[index];
  const PageRange range = whole.range;
  const std::vector<PageRange> units = granules_in(pages_, range);
  for (std::size_t u = 0; u < units.size();) {
    PageRange part = units[u++];
    const bool is_awaited = pages_.is_awaited(part.first);
    while (!is_awaited && u < units.size() && !pages_.is_awaited(units[u].first))
      part.count += units[u++].count;
    const bool is_first = part.first == range.first;
    const std::uint32_t number = is_first ? index : take_slot(departures_, free_);
    departures_[number] = {whole.reason, part, part.count, 0, {}};
    const std::uint64_t skipped = part.first - range.first;
    const std::uint64_t count = u == units.size() ? entries.size() - skipped : part.count;
    if (is_awaited) {
      park(number, entries.subspan(skipped, count), cycle);
    } else {
      go_home(number, entries.subspan(skipped, count), cycle);
    }
  }
}

void Departures::park(std::uint32_t index, std::span<const std::uint64_t> entries,
                      const HostCycle& cycle) {
  const PageRange range = departures_[index].range;
  bool is_newer = false;
  std::vector<FrameRun> frames;
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const PageTableEntry entry{entries[i]};
    departures_[index].frames.push_back({entry.address(), page_bytes});
    if (i >= range.count) continue;  // rest of a large page
    const ManagedPage page = range.first + i;
    is_newer |= entry.is(PageTableEntry::dirty) || pages_.has(page, ManagedPages::newer);
    count_use(page, entry, cycle.statistics);
    append_frame(frames, PhysicalAddress{entry.address()}, page_bytes);
    cycle.statistics.pages_spilled[pages_.owner(page).tenant.value()] +=
        pages_.has(page, ManagedPages::evicted);
  }
  departures_[index].transfers = 1;
  pages_.clear(range, ManagedPages::prefetched | ManagedPages::newer);
  pages_.park(range, index, std::move(frames), is_newer);
}

std::optional<Departures::Wanted> Departures::go_home(std::uint32_t index,
                                                      std::span<const std::uint64_t> entries,
                                                      const HostCycle& cycle) {
  std::vector<FrameRun> clean;
  const std::vector<Transfer> transfers = write_backs(index, entries, clean, cycle.statistics);
  const PageRange range = departures_[index].range;
  pages_.clear(range, ManagedPages::prefetched | ManagedPages::duplicate | ManagedPages::newer);
  driver_.give_back(pages_.owner(range.first).tenant, clean, cycle);
  departures_[index].transfers = static_cast<std::uint32_t>(transfers.size());
  if (transfers.empty()) return finish(index, cycle);
  for (const Transfer& transfer : transfers) cycle.link.start(transfer, cycle.now, cycle.outbox);
  return std::nullopt;
}

std::optional<Departures::Wanted> Departures::transfer_done(const Transfer& transfer,
                                                            const HostCycle& cycle) {
  const auto index = static_cast<std::uint32_t>(transfer.owner.number);
  if (--departures_[index].transfers > 0) return std::nullopt;
  return finish(index, cycle);
}

std::optional<Departures::Wanted> Departures::finish(std::uint32_t index, const HostCycle& cycle) {
  const Departure departure = std::exchange(departures_[index], Departure{});
  const std::uint64_t operation = departure.reason.operation;
  free_.push_back(index);
  driver_.give_back(pages_.owner(departure.range.first).tenant, departure.frames, cycle);
  pages_.come_home(departure.range, departure.in_memory);
  faults_.reconsider(cycle.now);
  if (departure.reason.then_to_gpu && pages_.buffer_of(departure.range.first).holds == 0)
    return Wanted{departure.range, operation};
  operations_.one_done(operation);
  return std::nullopt;
}

void Departures::serialize(Archive& archive) {
  archive(departures_, free_, recalled_);
}

}  // namespace lockstep
