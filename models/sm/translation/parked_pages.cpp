#include "models/sm/translation/parked_pages.hpp"

namespace lockstep {

std::uint16_t ParkedPages::find_miss(TlbKey key) const {
  std::uint16_t index = heads_[buckets_.of(key.bits())];
  while (index != none && misses_[index].key != key) index = misses_[index].chain;
  return index;
}

std::uint16_t ParkedPages::take_miss(TlbKey key) {
  const std::uint16_t index = misses_.take();
  std::uint16_t& head = head_of(key);
  misses_[index] = PageMiss{};
  misses_[index].key = key;
  misses_[index].chain = head;
  head = index;
  return index;
}

void ParkedPages::give_back_miss(std::uint16_t index) {
  set_faulted(index, false);
  set_state(index, PageMiss::State::unused);
  std::uint16_t* place = &head_of(misses_[index].key);
  while (*place != index) place = &misses_[*place].chain;
  *place = misses_[index].chain;
  misses_.give_back(index);
}

void ParkedPages::set_state(std::uint16_t index, PageMiss::State state) {
  PageMiss& miss = misses_[index];
  asked_ -= miss.state == PageMiss::State::asked;
  asked_ += state == PageMiss::State::asked;
  if (miss.state == PageMiss::State::draining) std::erase(draining_, index);
  if (state == PageMiss::State::draining) draining_.push_back(index);
  miss.state = state;
}

void ParkedPages::set_faulted(std::uint16_t index, bool faulted) {
  PageMiss& miss = misses_[index];
  faulted_ -= miss.faulted;
  faulted_ += faulted;
  miss.faulted = faulted;
}

void ParkedPages::set_refused_since(std::uint16_t index, SmCycle since) {
  PageMiss& miss = misses_[index];
  const bool before = miss.was_refused();
  miss.refused_since = since;
  const int change = int{miss.was_refused()} - int{before};
  for (std::uint16_t i = miss.first; change != 0 && i != none; i = groups_[i].next)
    count_line_of_refused(groups_[i].access, change);
}

void ParkedPages::count_line_of_refused(std::uint16_t access, int change) {
  // The warp of a prefetch may have left.
  if (accesses_[access].kind == Access::Kind::prefetch) return;
  const std::uint8_t warp = accesses_[access].warp;
  std::uint16_t& lines = lines_of_refused_[warp];
  lines = static_cast<std::uint16_t>(lines + change);
  const std::uint64_t bit = std::uint64_t{1} << warp;
  warps_of_refused_ = lines != 0 ? warps_of_refused_ | bit : warps_of_refused_ & ~bit;
}

void ParkedPages::park(std::uint16_t index, Access& access, unsigned group) {
  if (access.parked == none) {
    access.parked = accesses_.take();
    Access& copy = accesses_[access.parked];
    copy.take_global(access);
    copy.parked = access.parked;
    copy.holders = 2;
  } else {
    ++accesses_[access.parked].holders;
  }
  const std::uint16_t place = groups_.take();
  groups_[place] = {none, access.parked, static_cast<std::uint16_t>(group)};
  PageMiss& miss = misses_[index];
  if (miss.was_refused()) count_line_of_refused(access.parked, 1);
  (miss.last == none ? miss.first : groups_[miss.last].next) = place;
  miss.last = place;
}

bool ParkedPages::pop(std::uint16_t index) {
  PageMiss& miss = misses_[index];
  const std::uint16_t place = miss.first;
  const std::uint16_t access = groups_[place].access;
  if (miss.was_refused()) count_line_of_refused(access, -1);
  miss.first = groups_[place].next;
  if (miss.first == none) miss.last = none;
  groups_.give_back(place);
  return release(access);
}

void ParkedPages::serialize(Archive& archive) {
  archive(draining_, asked_, faulted_, warps_of_refused_, lines_of_refused_, heads_, misses_,
          groups_, accesses_);
}

}  // namespace lockstep
