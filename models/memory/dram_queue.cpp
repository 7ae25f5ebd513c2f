#include "models/memory/dram_queue.hpp"

#include "core/error/error.hpp"

namespace lockstep {

DramQueue::DramQueue(const Sizes& sizes, std::uint32_t banks)
    : sizes_(sizes), entries_(sizes.reads + sizes.writes), open_row_(banks, closed) {
  for (auto& lists : lists_) lists.resize(banks);
  for (auto i = static_cast<std::uint32_t>(entries_.size()); i-- > 0;) free_.push_back(i);
}

std::uint32_t DramQueue::push(const DramEntry& entry) {
  LOCKSTEP_CHECK(room(entry.write), "a DRAM queue overflows");
  const std::uint32_t index = free_.back();
  free_.pop_back();
  const unsigned l = list_of(entry.write);
  List& list = lists_[l][entry.bank];
  DramEntry& added = entries_[index];
  added = entry;
  added.order = order_++;
  added.previous = list.tail;
  added.next = DramEntry::none;
  (list.tail == DramEntry::none ? list.head : entries_[list.tail].next) = index;
  list.tail = index;
  if (list.hit == DramEntry::none && open_row_[entry.bank] == entry.row) list.hit = index;
  active_[l] |= std::uint64_t{1} << entry.bank;
  ++counts_[l];
  change(entry.bank);
  choose_direction();
  return index;
}

void DramQueue::remove(std::uint32_t index) {
  const DramEntry& entry = entries_[index];
  const unsigned l = list_of(entry.write);
  List& list = lists_[l][entry.bank];
  if (list.hit == index) {
    // Whatever is older than the oldest hit is no hit, so the search goes on behind it.
    std::uint32_t hit = entry.next;
    while (hit != DramEntry::none && entries_[hit].row != open_row_[entry.bank])
      hit = entries_[hit].next;
    list.hit = hit;
  }
  (entry.previous == DramEntry::none ? list.head : entries_[entry.previous].next) = entry.next;
  (entry.next == DramEntry::none ? list.tail : entries_[entry.next].previous) = entry.previous;
  if (list.head == DramEntry::none) active_[l] &= ~(std::uint64_t{1} << entry.bank);
  --counts_[l];
  change(entry.bank);
  free_.push_back(index);
  choose_direction();
}

void DramQueue::row_opened(std::uint32_t bank, std::uint32_t row) {
  open_row_[bank] = row;
  change(bank);
  for (auto& lists : lists_) {
    std::uint32_t hit = lists[bank].head;
    while (hit != DramEntry::none && entries_[hit].row != row) hit = entries_[hit].next;
    lists[bank].hit = hit;
  }
}

void DramQueue::row_closed(std::uint32_t bank) {
  open_row_[bank] = closed;
  change(bank);
  for (auto& lists : lists_) lists[bank].hit = DramEntry::none;
}

void DramQueue::choose_direction() {
  if (sizes_.writes == 0) return;
  const std::uint32_t before = serving_;
  if (serving_ == 0) {
    if (counts_[1] >= sizes_.high || (counts_[0] == 0 && counts_[1] > 0)) serving_ = 1;
  } else if (counts_[1] == 0 || (counts_[1] <= sizes_.low && counts_[0] > 0)) {
    serving_ = 0;
  }
  if (serving_ != before) changed_ = ~std::uint64_t{0};
}

}  // namespace lockstep
