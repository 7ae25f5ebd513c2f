#include "models/driver/page_manager/mosaic/large_frames.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

LargeFrames::LargeFrames(std::uint64_t capacity, std::size_t owners)
    : frames_(capacity / large_page_bytes),
      open_(owners),
      kept_(owners),
      owned_(owners),
      pages_(owners) {
  for (std::uint32_t number = 0; number < frames_.size(); ++number) free_.insert(number);
}

void LargeFrames::unlist(std::uint32_t number) {
  const LargeFrame& frame = frames_[number];
  if (frame.owner == nobody) {
    free_.erase(number);
  } else {
    (frame.region == no_region ? open_ : kept_)[frame.owner].erase(number);
  }
}

void LargeFrames::list(std::uint32_t number) {
  LargeFrame& frame = frames_[number];
  if (frame.locked) return;
  if (frame.taken.empty()) {
    if (frame.region != no_region) of_region_.erase({frame.owner, frame.region});
    --owned_[frame.owner];
    frame = LargeFrame{};
    free_.insert(number);
  } else if (!frame.taken.full()) {
    (frame.region == no_region ? open_ : kept_)[frame.owner].insert(number);
  }
}

void LargeFrames::give(std::uint32_t number, Owner owner, std::uint64_t region) {
  free_.erase(number);
  frames_[number].owner = owner;
  frames_[number].region = region;
  ++owned_[owner];
  if (region != no_region) of_region_[{owner, region}] = number;
}

std::optional<std::uint32_t> LargeFrames::take_free(Owner owner, std::uint64_t region) {
  if (free_.empty()) return std::nullopt;
  const std::uint32_t number = *free_.begin();
  give(number, owner, region);
  return number;
}

PhysicalAddress LargeFrames::take_at(std::uint32_t number, std::uint64_t place) {
  unlist(number);
  frames_[number].taken.add(place);
  ++pages_[frames_[number].owner];
  list(number);
  return address_of(number, place);
}

std::optional<PhysicalAddress> LargeFrames::take_region(Owner owner, std::uint64_t region) {
  if (of_region_.contains({owner, region})) return std::nullopt;
  const auto number = take_free(owner, region);
  if (!number) return std::nullopt;
  frames_[*number].taken.add_all();
  pages_[owner] += pages_per_large;
  return address_of(*number);
}

PhysicalAddress LargeFrames::take_in_region(Owner owner, VirtualPage page) {
  const std::uint64_t region = page.value() / pages_per_large;
  const std::uint64_t place = page.value() % pages_per_large;
  const auto known = of_region_.find({owner, region});
  const auto number = known == of_region_.end() ? take_free(owner, region) : known->second;
  if (!number || frames_[*number].taken.has(place)) return take(owner);
  return take_at(*number, place);
}

void LargeFrames::take_foreign(PhysicalAddress page) {
  const std::uint32_t number = number_of(page);
  if (frames_[number].owner == nobody)
    give(number, static_cast<Owner>(open_.size() - 1), no_region);
  take_at(number, place_of(page));
  at(page).foreign.add(place_of(page));
}

std::vector<std::uint32_t> LargeFrames::foreign_frames() const {
  std::vector<std::uint32_t> numbers(open_.back().begin(), open_.back().end());
  std::stable_sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    return frames_[a].taken.count() > frames_[b].taken.count();
  });
  return numbers;
}

/// Returns a frame with room: first among the owner's frames, then a new one, then one kept for the
/// owner's regions, then one with foreign pages, then one of another owner.
std::optional<std::uint32_t> LargeFrames::frame_with_room(Owner owner) {
  if (!open_[owner].empty()) return *open_[owner].begin();
  if (const auto number = take_free(owner, no_region)) return number;
  if (!kept_[owner].empty()) return *kept_[owner].begin();
  ++violations_;
  if (!open_.back().empty()) return *open_.back().begin();
  for (const auto* lists : {&open_, &kept_})
    for (const Numbers& others : *lists)
      if (!others.empty()) return *others.begin();
  for (const std::uint32_t number : locked_)
    if (!frames_[number].taken.full()) return number;
  return std::nullopt;
}

PhysicalAddress LargeFrames::take(Owner owner) {
  const auto number = frame_with_room(owner);
  LOCKSTEP_CHECK(number.has_value(), "no page of any large frame is free");
  return take_at(*number, frames_[*number].taken.next_missing());
}

void LargeFrames::release(PhysicalAddress page) {
  const std::uint32_t number = number_of(page);
  LargeFrame& frame = frames_[number];
  LOCKSTEP_CHECK(frame.taken.has(place_of(page)), "a page of a large frame is freed twice");
  unlist(number);
  --pages_[frame.owner];
  frame.taken.remove(place_of(page));
  frame.foreign.remove(place_of(page));
  frame.there.remove(place_of(page));
  frame.holes.remove(place_of(page));
  list(number);
}

void LargeFrames::lock(std::uint32_t number) {
  LargeFrame& frame = frames_[number];
  unlist(number);
  if (frame.region != no_region) of_region_.erase({frame.owner, frame.region});
  frame.region = no_region;
  frame.locked = true;
  locked_.insert(number);
}

void LargeFrames::unlock(std::uint32_t number) {
  frames_[number].locked = false;
  locked_.erase(number);
  list(number);
}

bool LargeFrames::has_base_pages() const {
  return std::any_of(open_.begin(), open_.end(), [](const Numbers& o) { return !o.empty(); });
}

/// The lists follow from the frames.
void LargeFrames::relist() {
  free_.clear();
  locked_.clear();
  of_region_.clear();
  for (Numbers& numbers : open_) numbers.clear();
  for (Numbers& numbers : kept_) numbers.clear();
  std::fill(owned_.begin(), owned_.end(), 0);
  std::fill(pages_.begin(), pages_.end(), 0);
  for (std::uint32_t number = 0; number < frames_.size(); ++number) {
    const LargeFrame& frame = frames_[number];
    if (frame.owner == nobody) {
      free_.insert(number);
      continue;
    }
    ++owned_[frame.owner];
    pages_[frame.owner] += frame.taken.count();
    if (frame.region != no_region) of_region_[{frame.owner, frame.region}] = number;
    if (frame.locked) locked_.insert(number);
    list(number);
  }
}

void LargeFrames::serialize(Archive& archive) {
  archive(frames_, violations_);
  if (!archive.is_saving()) relist();
}

}  // namespace lockstep
