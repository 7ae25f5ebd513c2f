#include "models/memory/dram/dram_queue.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

DramQueue::DramQueue(const Sizes& sizes, std::uint32_t banks, const DramDivision& division)
    : sizes_(sizes),
      levels_(division.levels),
      entries_(sizes.reads + sizes.writes),
      nodes_(entries_.size()),
      lists_(2 * std::size_t{levels_}, std::vector<List>(banks)),
      open_row_(banks, closed) {
  LOCKSTEP_CHECK(levels_ >= 1 && levels_ <= DramDivision::most_levels &&
                     division.pools.size() <= DramDivision::most_pools,
                 "a scheduler divides its DRAM queue too much");
  if (division.pools.empty()) {
    places_[0] = sizes.reads + sizes.writes;
  } else {
    std::copy(division.pools.begin(), division.pools.end(), places_.begin());
  }
  for (auto i = static_cast<std::uint16_t>(entries_.size()); i-- > 0;) free_.push_back(i);
}

std::uint32_t DramQueue::push_next() {
  const std::uint16_t index = free_.back();
  free_.pop_back();
  const DramEntry& entry = entries_[index];
  const unsigned l = list_of(entry);
  List& list = lists_[l][entry.bank];
  nodes_[index] = {entry.row, order_++, list.tail, end};
  (list.tail == end ? list.head : nodes_[list.tail].next) = index;
  list.tail = index;
  if (list.hit == end && open_row_[entry.bank] == entry.row) list.hit = index;
  active_[l] |= std::uint64_t{1} << entry.bank;
  ++counts_[direction_of(entry.write)];
  ++used_[entry.pool];
  change(entry.bank);
  choose_direction();
  return index;
}

std::uint16_t DramQueue::first_for(std::int64_t row, std::uint16_t node) const {
  while (node != end && nodes_[node].row != row) node = nodes_[node].next;
  return node;
}

void DramQueue::remove(std::uint32_t index) {
  const DramEntry& entry = entries_[index];
  const Node& node = nodes_[index];
  const unsigned l = list_of(entry);
  List& list = lists_[l][entry.bank];
  // An entry older than the oldest hit is no hit, so the search continues behind the hit.
  if (list.hit == index) list.hit = first_for(open_row_[entry.bank], node.next);
  (node.previous == end ? list.head : nodes_[node.previous].next) = node.next;
  (node.next == end ? list.tail : nodes_[node.next].previous) = node.previous;
  if (list.head == end) active_[l] &= ~(std::uint64_t{1} << entry.bank);
  --counts_[direction_of(entry.write)];
  --used_[entry.pool];
  change(entry.bank);
  free_.push_back(static_cast<std::uint16_t>(index));
  choose_direction();
}

void DramQueue::row_opened(std::uint32_t bank, std::uint32_t row) {
  open_row_[bank] = row;
  change(bank);
  for (auto& lists : lists_) lists[bank].hit = first_for(row, lists[bank].head);
}

void DramQueue::row_closed(std::uint32_t bank) {
  open_row_[bank] = closed;
  change(bank);
  for (auto& lists : lists_) lists[bank].hit = end;
}

void DramQueue::choose_direction() {
  if (sizes_.writes == 0) return;
  const std::uint32_t before = serving_;
  if (serving_ == 0) {
    if (counts_[1] >= sizes_.high || (counts_[0] == 0 && counts_[1] > 0)) serving_ = 1;
  } else if (counts_[1] == 0 || (counts_[1] <= sizes_.low && counts_[0] > 0)) {
    serving_ = 0;
  }
  if (serving_ == before) return;
  first_ = serving_ * levels_;
  changed_ = ~std::uint64_t{0};
}

}  // namespace lockstep
