#include "models/driver/managed/managed_memory.hpp"

#include <algorithm>
#include <cstring>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// Largest transfer of a prefetch step, in pages: 1 MiB, so that a fault waits for it as long as
/// for the largest that the tree prefetcher makes (virtual-memory-and-exceptions.md, 18).
constexpr std::uint64_t most_step_pages = 256;

}  // namespace

ManagedMemory::ManagedMemory(Setup setup, Driver& driver, const BufferDirectory& directory)
    : parameters_(host_fault_parameters(setup.fault_handling)),
      driver_(driver),
      prefetcher_(make_prefetcher(setup.prefetcher)),
      eviction_(make_eviction(setup.eviction)),
      pages_(*eviction_, driver.page_manager().granule_pages()),
      queue_(pages_, parameters_, setup.priorities),
      log_(setup.record_faults),
      departures_(driver, directory, pages_, queue_, operations_),
      evictor_(setup.eviction.name(), *eviction_, pages_, departures_, setup.seed),
      migrations_({driver, directory, pages_, queue_, log_, operations_, evictor_},
                  setup.priorities.size()),
      handling_(make_fault_handling(
          setup.fault_handling, {setup.link_latency, setup.seed, setup.priorities.size()},
          {driver, directory, pages_, queue_, log_, *prefetcher_, migrations_})) {
  if (setup.shared != nullptr) pages_.join(*setup.shared, setup.gpu);
}

void ManagedMemory::prefer(std::uint32_t index, PreferredPlace place, const HostCycle& cycle) {
  pages_.buffer(index).preferred = place;
  const Allocation& a = allocation(index);
  if (place == PreferredPlace::host) departures_.withdraw({a.first, a.pages}, cycle);
}

void ManagedMemory::let_go(std::uint32_t allocation, Time now) {
  --pages_.buffer(allocation).holds;
  queue_.reconsider(now);
}

bool ManagedMemory::migrate_home(std::uint32_t index, std::uint64_t first, std::uint64_t count,
                                 bool write, const HostCycle& cycle) {
  const ManagedPages::Buffer& buffer = pages_.buffer(index);
  const PageRange range{allocation(index).first + first, count};
  const bool whole = count == allocation(index).pages;
  if (whole && buffer.resident + buffer.offered == 0 && buffer.moving == 0) return true;
  if (buffer.resident > (write ? 0 : buffer.duplicates) || buffer.offered > 0)
    departures_.start_all(range, write, {}, cycle);
  if (whole) return buffer.resident == (write ? 0 : buffer.duplicates) && buffer.moving == 0;
  for (ManagedPage page = range.first; page < range.end(); ++page) {
    const PagePlace place = pages_.place(page);
    const bool copied =
        place == PagePlace::gpu && !write && pages_.has(page, ManagedPages::duplicate);
    if (place != PagePlace::host && place != PagePlace::remote && !copied) return false;
  }
  return true;
}

std::vector<FrameRun> ManagedMemory::lend(std::uint32_t index, std::uint64_t unit) {
  pages_.set(pages_.pages_of_units(index, unit, 1), ManagedPages::newer);
  const std::uint64_t count = driver_.mapped_pages(page_bytes);
  return driver_.tables().frames_of(
      {allocation(index).tenant, allocation(index).virtual_page + unit * pages_.granule(), count});
}

std::vector<FrameRun> ManagedMemory::frames(std::uint32_t index, std::uint64_t unit) const {
  const PageRange range = pages_.pages_of_units(index, unit, 1);
  return driver_.tables().frames_of(
      {allocation(index).tenant, pages_.virtual_page(range.first), range.count});
}

void ManagedMemory::counted(TenantId tenant, std::uint64_t address, const HostCycle& cycle) {
  const std::optional<ManagedPage> page = pages_.borrowed_at(address);
  if (!page || pages_.place(*page) != PagePlace::remote || pages_.owner(*page).tenant != tenant)
    return;
  const VirtualPage where = pages_.virtual_page(*page);
  if (driver_.tables().entry(tenant, where).address() != address) return;
  ++cycle.statistics.faults_counted[tenant.value()];
  queue_.push({*page, cycle.now, cycle.now, cycle.now, true, 0, true});
}

bool ManagedMemory::release(std::uint32_t index, const HostCycle& cycle) {
  const ManagedPages::Buffer& buffer = pages_.buffer(index);
  const PageRange all{allocation(index).first, allocation(index).pages};
  if (buffer.resident + buffer.remote + buffer.offered > 0)
    departures_.start_all(all, true, {.keep_bytes = false}, cycle);
  if (buffer.resident + buffer.remote + buffer.moving > 0) return false;
  forget_if([&](const PageFault& fault) { return fault.is_in(all); });
  pages_.remove(index);
  return true;
}

void ManagedMemory::prefetch(std::uint32_t index, std::uint64_t first, std::uint64_t count,
                             bool to_gpu, std::uint64_t id, const HostCycle& cycle) {
  operations_.begin(id);
  const PageRange range{allocation(index).first + first, count};
  if (!to_gpu) {
    departures_.start_all(range, true, {.operation = id}, cycle);
  } else if (pages_.buffer(index).holds == 0) {
    prefetch_to_gpu(range, id, cycle);
  }
  operations_.one_done(id);
}

void ManagedMemory::prefetch_to_gpu(PageRange pages, std::uint64_t id, const HostCycle& cycle) {
  for (ManagedPage page = pages.first; page < pages.end(); ++page) {
    const PagePlace place = pages_.place(page);
    if (place != PagePlace::host && place != PagePlace::remote) continue;
    const bool offered = pages_.has(page, ManagedPages::offered);
    PageRange range{page, 1};
    const ManagedPage stop =
        std::min(pages.end(), page.rounded_down(most_step_pages) + most_step_pages);
    while (range.end() < stop && pages_.place(range.end()) == place &&
           pages_.has(range.end(), ManagedPages::offered) == offered)
      ++range.count;
    range = pages_.whole_granules(range);
    page = range.end() - 1;
    if (place == PagePlace::host && !offered) {
      operations_.expect_one(id);
      migrations_.prefetch(range, id, cycle.now);
    } else {
      departures_.start(range, {.then_to_gpu = true, .operation = id}, cycle);
    }
  }
  migrations_.start_waiting(cycle);
}

bool ManagedMemory::make_room(std::uint64_t bytes, const HostCycle& cycle) {
  const std::uint64_t pages = bytes / page_bytes;
  if (pages_.leaving() >= pages) return true;
  return evictor_.evict(pages - pages_.leaving(), cycle) || pages_.leaving() > 0 ||
         migrations_.under_way() > 0 || migrations_.somebody_leaves();
}

void ManagedMemory::note_accesses(const MessageHeader& message) {
  const std::size_t notes = message.payload_bytes / sizeof(AccessNote);
  for (std::size_t i = 0; i < notes; ++i) {
    AccessNote note;
    std::memcpy(&note, message.payload_data() + i * sizeof note, sizeof note);
    const VirtualPage accessed{note.page};
    const Allocation* a =
        pages_.residency().find(TenantId{static_cast<std::uint16_t>(note.tenant)}, accessed);
    if (a == nullptr) continue;
    const ManagedPage page = a->managed_page_of(accessed);
    if (pages_.place(page) == PagePlace::gpu) eviction_->accessed(page);
  }
}

void ManagedMemory::fault(const MessageHeader& message, const HostCycle& cycle) {
  note_accesses(message);
  const auto& body = message.body<FarFault>();
  const TenantId tenant{body.tenant};
  const Allocation* a = pages_.residency().find(tenant, VirtualPage{body.page});
  if (a == nullptr && driver_.rearranges({tenant, VirtualPage{body.page}, 1})) return;
  if (a == nullptr) {
    ++cycle.statistics.faults_invalid[body.tenant];
    driver_.announce_invalid(tenant, VirtualPage{body.page}, cycle);
    return;
  }
  ++cycle.statistics.far_faults[body.tenant];
  const ManagedPage page = a->managed_page_of(VirtualPage{body.page});
  cycle.statistics.late_hits[body.tenant] += pages_.place(page) == PagePlace::arriving;
  queue_.push({page, body.found, cycle.now, cycle.now, body.write != 0 || body.permission != 0,
               body.position});
}

void ManagedMemory::mapped_by_gpu(const MessageHeader& message, const HostCycle& cycle) {
  const auto& body = message.body<PagesHandled>();
  const TenantPage first = body.span.first();
  GranuleFrames entries;
  std::memcpy(entries.data(), message.payload_data(), sizeof entries);
  std::vector<FrameRun> left;
  std::uint32_t count = 0;
  for (std::uint64_t i = 0; i < pages_per_block; ++i) {
    const PageTableEntry entry{entries[i]};
    if (!entry.is(PageTableEntry::present)) {
      append_frame(left, PhysicalAddress{entry.address()}, page_bytes);
      continue;
    }
    const TenantPages page{first.tenant, first.page + i, 1};
    driver_.mapped_by_gpu(page, {&entries[i], 1}, cycle);
    const Allocation* a = pages_.residency().find(first.tenant, page.first);
    LOCKSTEP_CHECK(a != nullptr, "the GPU has mapped a page of no buffer");
    const ManagedPage managed = a->managed_page_of(page.first);
    if (pages_.mapped_by_gpu(managed, cycle.statistics)) departures_.mapped_by_gpu(managed);
    ++count;
  }
  driver_.give_back(first.tenant, left, cycle);
  driver_.zeroed_frames().used();
  cycle.statistics.pages_local[first.tenant.value()] += count;
  ++cycle.statistics.faults_local[first.tenant.value()];
  if (log_.enabled())
    log_.add({first.tenant, VirtualPage{body.faulted}, count, 0, false, true, body.found, cycle.now,
              cycle.now, body.replayed});
}

void ManagedMemory::mapped(std::uint32_t migration, const HostCycle& cycle) {
  migrations_.mapped(migration, cycle);
}

void ManagedMemory::unmapped(const Unmapped& pages, const HostCycle& cycle) {
  go_on(departures_.unmapped(pages, cycle), cycle.now);
}

void ManagedMemory::transfer_done(const Transfer& transfer, const HostCycle& cycle) {
  go_on(departures_.transfer_done(transfer, cycle), cycle.now);
}

void ManagedMemory::go_on(const std::optional<Departures::Wanted>& wanted, Time now) {
  if (wanted) migrations_.prefetch(wanted->range, wanted->operation, now);
}

void ManagedMemory::act(const HostCycle& cycle) {
  handling_->act(cycle);
  migrations_.start_waiting(cycle);
}

void ManagedMemory::forget_faults(TenantId tenant) {
  forget_if([&](const PageFault& fault) { return pages_.owner(fault.page).tenant == tenant; });
}

std::string ManagedMemory::waiting_for() const {
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(queue_.size(), " faults wait for the driver");
  add(queue_.deferred(), " faults wait for the CPU or for pages that leave");
  add(migrations_.without_frames(), " migrations wait for frames");
  add(migrations_.under_way(), " migrations are under way");
  add(migrations_.fetching(), " of them wait for other GPUs");
  add(pages_.leaving(), " pages are leaving the GPU");
  return text;
}

void ManagedMemory::serialize(Archive& archive) {
  archive(pages_, queue_, log_, operations_, departures_, evictor_, migrations_);
  handling_->serialize(archive);
}

}  // namespace lockstep
