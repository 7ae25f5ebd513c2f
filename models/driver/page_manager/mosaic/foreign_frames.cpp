/// CaC in a memory that was fragmented before the run.
///
/// When fewer large frames are free than are wanted, the emptiest frame with only foreign pages is
/// emptied: its pages move to other such frames, the fullest first, each within its channel.  The
/// request for a frame waits meanwhile.
/// Source: 004, sections 7.3.4 and 7.5.4; memory-interference.md, section 6.3.4 (reclaim) and
/// AMB-63.
///
/// Simplified: a frame is not emptied any more once a tenant's page lies beside its foreign pages.
#include <algorithm>

#include "models/driver/page_manager/mosaic/mosaic.hpp"

namespace lockstep {

/// Returns the number of free large frames that allocating the pages takes.
std::uint64_t Mosaic::frames_wanted(const TenantPages& pages) const {
  const Regions& regions = whole_[pages.tenant.value()];
  const auto owner = static_cast<LargeFrames::Owner>(pages.tenant.value());
  std::uint64_t frames = 0;
  bool wants_base_pages = false;
  for (VirtualPage page = pages.first; page < pages.end();) {
    const std::uint64_t region = page.value() / pages_per_large;
    const VirtualPage begin{region * pages_per_large}, end = begin + pages_per_large;
    if ((pages.first <= begin && end <= pages.end()) ||
        std::binary_search(regions.begin(), regions.end(), region)) {
      frames += large_.has_region(owner, region) ? 0 : 1;
    } else {
      wants_base_pages = true;
    }
    page = end;
  }
  return frames + (wants_base_pages && !large_.has_base_pages(owner) ? 1 : 0);
}

/// Empties frames of foreign pages. Returns false if there are enough free frames, or if no more
/// can be emptied.
bool Mosaic::empty_frames(std::uint64_t wanted, PageServices& services) {
  if (!parameters_.compacts() || foreign_numbers_.empty() || large_.free_frames() >= wanted)
    return false;
  while (large_.free_frames() + emptying_.size() < wanted && empty_frame(services)) {
  }
  count();
  return !emptying_.empty();
}

/// Empties one frame. Returns false if none can be emptied.
bool Mosaic::empty_frame(PageServices& services) {
  const std::vector<std::uint32_t> numbers = large_.foreign_frames();
  const auto emptiest = std::find_if(numbers.rbegin(), numbers.rend(), [&](std::uint32_t number) {
    return large_[number].foreign == large_[number].taken;
  });
  if (emptiest == numbers.rend()) return false;
  const std::uint32_t number = *emptiest;
  large_.lock(number);
  const std::vector<PhysicalAddress> places = places_elsewhere(number);
  if (places.empty()) {
    large_.unlock(number);
    return false;
  }
  auto page = foreign_numbers_.lower_bound(frame_of(LargeFrames::address_of(number)));
  for (const PhysicalAddress to : places) {
    large_.take_foreign(to);
    allocator().take({to.value(), page_bytes});
    services.move_foreign((page++)->second, frame_of(to));
  }
  statistics_.foreign_moved += places.size();
  emptying_.push_back({number, places.size()});
  return true;
}

/// Returns a place for each foreign page of the frame, in their order; none if a page finds no
/// place.
std::vector<PhysicalAddress> Mosaic::places_elsewhere(std::uint32_t number) const {
  const PageSet& foreign = large_[number].foreign;
  // Indices of the foreign pages of each channel.
  std::map<PartitionId, std::vector<std::size_t>> waiting;
  std::size_t missing = 0;
  for (std::uint64_t place = 0; place < pages_per_large; ++place)
    if (foreign.has(place))
      waiting[mapping_.partition(LargeFrames::address_of(number, place))].push_back(missing++);
  std::vector<PhysicalAddress> places(missing);
  for (const std::uint32_t other : large_.foreign_frames()) {
    const PageSet& taken = large_[other].taken;
    for (std::uint64_t place = taken.next_missing(); place < pages_per_large;
         place = taken.next_missing(place + 1)) {
      const PhysicalAddress address = LargeFrames::address_of(other, place);
      std::vector<std::size_t>& here = waiting[mapping_.partition(address)];
      if (here.empty()) continue;
      places[here.back()] = address;
      here.pop_back();
      if (--missing == 0) return places;
    }
  }
  return {};
}

void Mosaic::foreign_moved(std::uint32_t number, Frame to, PageServices& services) {
  const Frame from = foreign_pages()[number];
  PageManager::foreign_moved(number, to, services);
  foreign_numbers_.erase(from);
  foreign_numbers_[to] = number;
  large_.release(address_of(from));
  const std::uint32_t left = LargeFrames::number_of(address_of(from));
  const auto frame = std::find_if(emptying_.begin(), emptying_.end(),
                                  [&](const Emptying& one) { return one.number == left; });
  if (--frame->missing > 0) return;
  large_.unlock(left);
  emptying_.erase(frame);
  ++statistics_.foreign_emptied;
  count();
}

}  // namespace lockstep
