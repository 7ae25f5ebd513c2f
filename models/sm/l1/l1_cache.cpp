#include "models/sm/l1/l1_cache.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

L1Cache::L1Cache(std::uint32_t most_lines, std::uint32_t sets, bool scattered)
    : sets_(sets), scattered_(scattered) {
  LOCKSTEP_CHECK(most_lines < none && most_lines >= sets, "L1 has too many or too few lines");
  meta_.resize(most_lines);
  dirty_.resize(most_lines);
  data_.resize(std::size_t{most_lines} * line_bytes);
  buckets_ = Buckets(std::size_t{4} * most_lines);
  heads_.resize(buckets_.count());
  order_lines(most_lines);
}

void L1Cache::resize(std::uint32_t lines) {
  std::fill(meta_.begin(), meta_.end(), Line{});
  std::fill(dirty_.begin(), dirty_.end(), LineBytes{});
  std::fill(heads_.begin(), heads_.end(), Head{});
  order_lines(lines);
}

/// Puts the lines of an empty cache into their sets.
void L1Cache::order_lines(std::uint32_t lines) {
  lines_ = lines / sets_ * sets_;
  // In each set a line is newer than the one before it.
  for (std::uint32_t i = sets_; i < lines_; ++i) {
    meta_[i].older = static_cast<std::uint16_t>(i - sets_);
    meta_[i - sets_].newer = static_cast<std::uint16_t>(i);
  }
  order_.assign(sets_, Order{});
  for (std::uint32_t set = 0; set < sets_ && lines_ > 0; ++set)
    order_[set] = {static_cast<std::uint16_t>(lines_ - sets_ + set),
                   static_cast<std::uint16_t>(set)};
}

/// Returns the set of a tag: low address bits, with higher ones folded in so that power-of-two
/// strides use all sets; or a hash that spreads neighbouring lines over the sets as if drawn at
/// random.
std::uint32_t L1Cache::set_of_tag(std::uint64_t tag) const {
  const unsigned bits = static_cast<unsigned>(std::countr_zero(sets_));
  if (bits == 0) return 0;
  if (scattered_) {
    std::uint64_t mixed = tag * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;  // multipliers of splitmix64
    return static_cast<std::uint32_t>(mixed >> 40) & (sets_ - 1);
  }
  return static_cast<std::uint32_t>(tag ^ (tag >> bits) ^ (tag >> 2 * bits) ^ (tag >> 3 * bits)) &
         (sets_ - 1);
}

void L1Cache::touch(std::uint16_t index) {
  if (meta_[index].newer == none) return;
  unlink(index);
  link_newest(index);
}

std::uint16_t L1Cache::victim(std::uint64_t tag) const {
  for (std::uint16_t i = find_any(tag); i != none; i = meta_[i].chain)
    if (meta_[i].tag == tag && !meta_[i].reserved) return i;
  std::uint16_t i = order_[set_of_tag(tag)].oldest;
  while (i != none && meta_[i].reserved) i = meta_[i].newer;
  return i;
}

void L1Cache::warm_victims(std::span<const std::uint64_t> tags) const {
  std::array<std::uint16_t, 64> last, victims;
  last.fill(none);
  std::size_t count = 0;
  for (const std::uint64_t tag : tags) {
    const std::uint32_t set = set_of_tag(tag);
    std::uint16_t& victim = last[set % last.size()];
    victim = victim == none ? order_[set].oldest : meta_[victim].newer;
    if (victim == none) continue;
    warm(&meta_[victim]);
    victims[count++] = victim;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (meta_[victims[i]].used) warm_head(meta_[victims[i]].tag);
    warm(&data_[std::size_t{victims[i]} * line_bytes], line_bytes);
  }
}

void L1Cache::assign(std::uint16_t index, std::uint64_t tag, bool local) {
  Line& l = meta_[index];
  if (l.used) unchain(index);
  unlink(index);
  link_newest(index);
  l.tag = tag;
  l.ready = SmCycle{};
  l.epoch = epoch_;
  l.valid = 0;
  l.used = true;
  l.local = local;
  l.reserved = false;
  enchain(index);
  if (local) dirty_[index] = {};
}

void L1Cache::drop(std::uint16_t index) {
  Line& l = meta_[index];
  if (!l.used) return;
  unchain(index);
  unlink(index);
  const std::uint16_t newer = l.newer, older = l.older;
  l = Line{};
  l.newer = newer;
  l.older = older;
  link_oldest(index);
}

void L1Cache::unlink(std::uint16_t index) {
  Order& order = order_[set_of(index)];
  Line& l = meta_[index];
  (l.newer == none ? order.newest : meta_[l.newer].older) = l.older;
  (l.older == none ? order.oldest : meta_[l.older].newer) = l.newer;
}

void L1Cache::link_newest(std::uint16_t index) {
  Order& order = order_[set_of(index)];
  Line& l = meta_[index];
  l.newer = none;
  l.older = order.newest;
  (order.newest == none ? order.oldest : meta_[order.newest].newer) = index;
  order.newest = index;
}

void L1Cache::link_oldest(std::uint16_t index) {
  Order& order = order_[set_of(index)];
  Line& l = meta_[index];
  l.older = none;
  l.newer = order.oldest;
  (order.oldest == none ? order.newest : meta_[order.oldest].older) = index;
  order.oldest = index;
}

void L1Cache::enchain(std::uint16_t index) {
  Line& l = meta_[index];
  Head& head = heads_[buckets_.of(l.tag)];
  l.chain = head.first;
  l.before = none;
  head.more = head.first != none;
  if (head.more) meta_[head.first].before = index;
  head.first = index;
  head.print = print_of(l.tag);
}

/// Takes the line out of its bucket.  Other lines of the bucket are written to but never read,
/// because they may be far away in this computer's caches.
void L1Cache::unchain(std::uint16_t index) {
  const Line& l = meta_[index];
  Head& head = heads_[buckets_.of(l.tag)];
  if (l.chain != none) meta_[l.chain].before = l.before;
  if (l.before != none) {
    meta_[l.before].chain = l.chain;
    if (l.before == head.first) head.more = l.chain != none;
    return;
  }
  head.first = l.chain;
  if (l.chain == none) return;
  head.print = print_of(meta_[l.chain].tag);
  head.more = meta_[l.chain].chain != none;
}

void L1Cache::serialize(Archive& archive) {
  archive(lines_, epoch_, heads_, meta_, order_, dirty_, data_);
}

}  // namespace lockstep
