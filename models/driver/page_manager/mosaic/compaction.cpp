/// CaC, contiguity-aware compaction.
///
/// Pages of a large page that are freed leave holes.  While `threshold` pages or more are in use,
/// the large page stays, and waits in the emergency list until frames run out; then it is
/// splintered, and what is free in it is given out.  With fewer it is splintered at once, and its
/// pages move to frames of their tenant that are no large pages, the fullest first.
/// Source: 004, section 7.3.4; memory-interference.md, section 6.3.4.
#include <algorithm>

#include "models/driver/page_manager/mosaic/mosaic.hpp"

namespace lockstep {

bool Mosaic::is_hole(PhysicalAddress page) const {
  return large_[LargeFrames::number_of(page)].holes.has(LargeFrames::place_of(page));
}

/// A request to free is complete before its frame is judged.
bool Mosaic::leave_holes(const TenantPages& pages, PageServices& services) {
  if (pages.count == pages_per_large || !tables().is_large(pages.tenant, pages.first)) return false;
  const std::vector<FrameRun> frames = tables().frames_of(pages);
  for (const FrameRun& run : frames)
    for (PhysicalAddress page = run.begin(); page < run.end(); page += page_bytes)
      large_.leave_hole(page);
  statistics_.allocated_pages[pages.tenant.value()] -= pages.count;
  look_at_holes(LargeFrames::number_of(frames.front().begin()), services);
  return true;
}

void Mosaic::look_at_holes(std::uint32_t number, PageServices& services) {
  const std::uint64_t used = large_[number].used();
  const bool goes = used == 0 || (parameters_.compacts() && used < parameters_.threshold);
  if (!goes || !splinter(number, parameters_.compacts(), services)) {
    if (std::find(emergency_.begin(), emergency_.end(), number) == emergency_.end())
      emergency_.push_back(number);
  }
  count();
}

/// Splinters a large page. Returns false if its pages are not at rest.
bool Mosaic::splinter(std::uint32_t number, bool moves, PageServices& services) {
  const LargeFrames::LargeFrame& frame = large_[number];
  const TenantId tenant{static_cast<std::uint16_t>(frame.owner)};
  const TenantPages large{tenant, VirtualPage{frame.region * pages_per_large}, pages_per_large};
  if (!services.splinter(tenant, large.first)) return false;
  std::erase(emergency_, number);
  large_.lock(number);
  compactions_.push_back({number, large, moves, {}});
  ++statistics_.splintered[tenant.value()];
  return true;
}

void Mosaic::rearranged(const TenantPages& pages, PageServices& services) {
  for (std::size_t i = 0; i < compactions_.size(); ++i) {
    Compaction& compaction = compactions_[i];
    if (!compaction.large.overlaps(pages)) continue;
    if (compaction.copying.empty()) {
      splintered(compaction, services);
    } else {
      std::erase(compaction.copying, pages.first);
    }
    if (compaction.copying.empty()) end_compaction(i);
    break;
  }
  try_again(services);
}

void Mosaic::splintered(Compaction& compaction, PageServices& services) {
  if (!compaction.moves) return;
  for (VirtualPage page = compaction.large.first; page < compaction.large.end(); ++page) {
    if (!tables().entry(compaction.large.tenant, page).is(PageTableEntry::present)) continue;
    if (move(compaction, page, services)) compaction.copying.push_back(page);
  }
  count();
}

/// Moves the page. Returns false if it stays in place.
bool Mosaic::move(const Compaction& compaction, VirtualPage page, PageServices& services) {
  const TenantId tenant = compaction.large.tenant;
  const PhysicalAddress from{tables().entry(tenant, page).address()};
  const auto to = large_.take_fitting(tenant.value(), [&](PhysicalAddress place) {
    return mapping_.partition(place) == mapping_.partition(from);
  });
  if (!to) {
    ++statistics_.without_destination[tenant.value()];
    return false;
  }
  if (!services.copy(tenant, page, frame_of(*to))) {
    large_.release(*to);
    return false;
  }
  allocator().take({to->value(), page_bytes});
  statistics_.allocated_pages[tenant.value()] += 1;  // both frames count until the old one is freed
  ++statistics_.moved[tenant.value()];
  statistics_.bytes_copied[tenant.value()] += page_bytes;
  return true;
}

void Mosaic::end_compaction(std::size_t index) {
  const Compaction compaction = std::move(compactions_[index]);
  compactions_.erase(compactions_.begin() + static_cast<std::ptrdiff_t>(index));
  large_.unlock(compaction.number);
  if (large_[compaction.number].taken.empty())
    ++statistics_.emptied[compaction.large.tenant.value()];
  count();
}

/// Makes room when frames have run out, from the free pages of a large page of the tenant, or of
/// another tenant.
bool Mosaic::settle(const TenantPages& pages, PageServices& services) {
  if (empty_frames(frames_wanted(pages), services)) return false;
  const auto owner = static_cast<LargeFrames::Owner>(pages.tenant.value());
  const auto has_pages = [&] { return pages.count * page_bytes <= frames().free_bytes(); };
  if (large_.free_frames() > 0 && has_pages()) return true;
  const auto own = std::find_if(emergency_.begin(), emergency_.end(), [&](std::uint32_t number) {
    return large_[number].owner == owner;
  });
  const bool wants_own = own != emergency_.end() && !large_.has_base_pages(owner);
  const bool wants_any = !emergency_.empty() && (!large_.has_base_pages() || !has_pages());
  if ((wants_own && splinter(*own, false, services)) ||
      (wants_any && splinter(emergency_.front(), false, services))) {
    ++statistics_.emergencies[pages.tenant.value()];
    return false;
  }
  return has_pages() || compactions_.empty();
}

}  // namespace lockstep
