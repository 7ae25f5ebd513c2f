#include "models/vm/tlb.hpp"

#include <algorithm>
#include <utility>

#include "core/error/error.hpp"

namespace lockstep {

TlbArray::TlbArray(std::uint32_t entries, std::uint32_t ways) : ways_(ways == 0 ? entries : ways) {
  LOCKSTEP_CHECK(entries % ways_ == 0, "a translation array does not divide into sets");
  orders_.resize(entries / ways_);
  buckets_ = Buckets(std::size_t{2} * entries);
}

std::uint32_t TlbArray::insert(TlbKey key, PageTableEntry value) {
  std::uint32_t index = find(key);
  if (index == none) {
    Order& order = orders_[key.number() % orders_.size()];
    if (order.entries < ways_ && (order.oldest == none || !entries_[order.oldest].is_empty()))
      make_entry(order);
    index = order.oldest;
    if (!entries_[index].is_empty()) {
      evicted_ = entries_[index].key.tenant();
      unchain(index);
    } else {
      ++used_;
      if (heads_.empty()) heads_.resize(buckets_.count(), none);
    }
    std::uint32_t& head = heads_[bucket_of(key)];
    entries_[index].key = key;
    entries_[index].chain = head;
    head = index;
  }
  entries_[index].value = value;
  entries_[index].mark = 0;
  touch(index);
  return index;
}

bool TlbArray::drop(TlbKey key) {
  const std::uint32_t index = find(key);
  if (index == none) return false;
  drop_at(index);
  return true;
}

/// The empty place is the next to be taken.
void TlbArray::drop_at(std::uint32_t index) {
  unchain(index);
  unlink(index);
  entries_[index] = Entry{};
  --used_;
  link_oldest(order_of(index), index);
}

std::uint32_t TlbArray::drop_tenant(TenantId tenant) {
  if (used_ == 0) return 0;
  std::uint32_t dropped = 0;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].is_empty() || entries_[i].key.tenant() != tenant) continue;
    drop_at(i);
    ++dropped;
  }
  return dropped;
}

std::uint32_t TlbArray::drop_all() {
  const std::uint32_t dropped = std::exchange(used_, 0);
  std::fill(heads_.begin(), heads_.end(), none);
  std::fill(orders_.begin(), orders_.end(), Order{});
  entries_.clear();
  return dropped;
}

void TlbArray::make_entry(Order& order) {
  const auto set = static_cast<std::uint32_t>(&order - orders_.data());
  const std::uint32_t index = set * ways_ + order.entries++;
  if (index >= entries_.size()) entries_.resize(std::size_t{index} + 1);
  entries_[index] = Entry{};
  link_oldest(order, index);
}

void TlbArray::link_oldest(Order& order, std::uint32_t index) {
  entries_[index].newer = order.oldest;
  (order.oldest == none ? order.newest : entries_[order.oldest].older) = index;
  order.oldest = index;
}

void TlbArray::move_to_newest(std::uint32_t index) {
  unlink(index);
  Order& order = order_of(index);
  Entry& entry = entries_[index];
  entry.newer = none;
  entry.older = order.newest;
  (order.newest == none ? order.oldest : entries_[order.newest].newer) = index;
  order.newest = index;
}

void TlbArray::unlink(std::uint32_t index) {
  Order& order = order_of(index);
  const Entry& entry = entries_[index];
  (entry.newer == none ? order.newest : entries_[entry.newer].older) = entry.older;
  (entry.older == none ? order.oldest : entries_[entry.older].newer) = entry.newer;
}

void TlbArray::unchain(std::uint32_t index) {
  std::uint32_t* place = &heads_[bucket_of(entries_[index].key)];
  while (*place != index) place = &entries_[*place].chain;
  *place = entries_[index].chain;
}

void TlbArray::serialize(Archive& archive) {
  archive(used_, entries_, orders_);
  if (!archive.is_saving()) find_heads();
}

/// Finds the first entry of each bucket: the entry that follows no other.
void TlbArray::find_heads() {
  std::vector<bool> is_next(entries_.size());
  for (const Entry& entry : entries_)
    if (!entry.is_empty() && entry.chain != none) is_next[entry.chain] = true;
  heads_.assign(used_ == 0 ? 0 : buckets_.count(), none);
  for (std::uint32_t i = 0; i < entries_.size(); ++i)
    if (!entries_[i].is_empty() && !is_next[i]) heads_[bucket_of(entries_[i].key)] = i;
}

void Tlb::mark(TenantPage first, std::uint32_t count, PageBits& bits) const {
  const auto set = [&](std::uint64_t place) { bits[place / 64] |= std::uint64_t{1} << place % 64; };
  const std::uint64_t begin = first.page.value();
  base.for_each([&](const TlbArray::Entry& entry) {
    const std::uint64_t place = entry.key.number() - begin;
    if (entry.key.tenant() == first.tenant && place < count) set(place);
  });
  for (std::uint64_t page = begin; page < begin + count;
       page = (page / pages_per_large + 1) * pages_per_large)
    if (large.find(TlbKey::large({first.tenant, VirtualPage{page}})) != TlbArray::none)
      set(page - begin);
}

}  // namespace lockstep
