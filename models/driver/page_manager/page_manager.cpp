#include "models/driver/page_manager/page_manager.hpp"

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"

namespace lockstep {

PageManager::PageManager(const Setup& setup)
    : frames_(setup.capacity, setup.mapping.group_bytes()),
      tables_(setup.tenants),
      foreign_pages_(setup.foreign_pages) {
  // Physical address 0 is no table's: a table pointer of 0 means none.
  if (setup.capacity > 0) frames_.allocate(page_bytes);
  for (const Frame page : foreign_pages_) frames_.take({address_of(page).value(), page_bytes});
}

std::uint64_t PageManager::table_bytes(std::uint64_t pages) {
  // One level-4 table per 512 pages, one more for the ends, and a path of directories.
  return (pages / pages_per_large + 2 + walk_levels) * page_bytes;
}

void PageManager::free(TenantId, std::span<const FrameRun> frames, PageServices&) {
  give_back(frames);
}

void PageManager::give_back(std::span<const FrameRun> frames) {
  for (const FrameRun& run : frames) frames_.release(run);
}

PhysicalAddress PageManager::take_table_frame(TenantId tenant) {
  const auto frame = frames_.allocate(page_bytes, page_bytes, tenant);
  LOCKSTEP_CHECK(frame.has_value(), "no frame is left for a page table");
  return *frame;
}

void PageManager::free_table_frame(PhysicalAddress frame) {
  frames_.release(frame, page_bytes);
}

std::vector<FrameRun> PageManager::allocate_large_first(const TenantPages& wanted) {
  std::vector<FrameRun> runs;
  std::uint64_t pages = wanted.count;
  while (pages >= pages_per_large) {
    const auto base = frames_.allocate(large_page_bytes, large_page_bytes, wanted.tenant);
    if (!base) break;
    runs.push_back({base->value(), large_page_bytes});
    pages -= pages_per_large;
  }
  if (pages == 0) return runs;
  const std::vector<FrameRun> rest = frames_.allocate_scattered(pages * page_bytes, wanted.tenant);
  if (rest.empty()) {
    give_back(runs);
    return {};
  }
  runs.insert(runs.end(), rest.begin(), rest.end());
  return runs;
}

std::vector<FrameRun> PageManager::allocate_large(const TenantPages& pages) {
  std::vector<FrameRun> runs;
  for (std::uint64_t page = 0; page < pages.count; page += pages_per_large) {
    const auto base = frames_.allocate(large_page_bytes, large_page_bytes, pages.tenant);
    if (!base) {
      give_back(runs);
      return {};
    }
    runs.push_back({base->value(), large_page_bytes});
  }
  return runs;
}

std::vector<FrameRun> PageManager::reserve(const TenantPages& pages,
                                           std::vector<TableWrite>& writes) {
  reserved(pages);
  std::vector<FrameRun> used;
  const auto take_frame = [&] { return take_table_frame(pages.tenant); };
  for (const FrameRun& run : tables_.reserve(pages, take_frame, writes))
    frames_.append_used(run, used);
  return used;
}

void PageManager::map(const TenantPages& pages, std::span<const FrameRun> frames,
                      std::uint64_t flags, bool paged, std::vector<TableWrite>& writes) {
  VirtualPage page = pages.first;
  for (const FrameRun& run : frames)
    for (std::uint64_t at = 0; at < run.bytes; at += page_bytes, ++page)
      tables_.set(pages.tenant, page, PageTableEntry::of(run.physical + at, flags), writes);
  if (!maps_large(paged)) return;
  VirtualPage first{round_up(pages.first.value(), pages_per_large)};
  for (; first + pages_per_large <= pages.end(); first += pages_per_large)
    if (tables_.in_large_frame(pages.tenant, first))
      tables_.set_large(pages.tenant, first, false, writes);
}

void PageManager::map_remote(const TenantPages& pages, std::uint64_t remote, std::uint64_t flags,
                             std::vector<TableWrite>& writes) {
  for (std::uint64_t i = 0; i < pages.count; ++i)
    tables_.set(pages.tenant, pages.first + i,
                PageTableEntry::of(remote + i * page_bytes, flags | PageTableEntry::remote),
                writes);
}

void PageManager::mark_untouched(const TenantPages& pages, std::vector<TableWrite>& writes) {
  for (VirtualPage page = pages.first; page < pages.end(); ++page)
    tables_.set(pages.tenant, page, {PageTableEntry::untouched}, writes);
}

void PageManager::unmapped(const TenantPages& pages) {
  for (VirtualPage page = pages.first; page < pages.end(); ++page)
    tables_.forget(pages.tenant, page);
  if (tables_.is_large(pages.tenant, pages.first)) tables_.forget_large(pages.tenant, pages.first);
}

void PageManager::end_tenant(TenantId tenant) {
  for (const PhysicalAddress table : tables_.take_all(tenant)) free_table_frame(table);
}

void PageManager::foreign_moved(std::uint32_t number, Frame to, PageServices&) {
  frames_.release(address_of(foreign_pages_[number]), page_bytes);
  foreign_pages_[number] = to;
}

void PageManager::serialize(Archive& archive) {
  archive(frames_, tables_, foreign_pages_);
}

}  // namespace lockstep
