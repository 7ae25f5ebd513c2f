#include "models/memory/l2/l2_mshrs.hpp"

namespace lockstep {

L2Mshrs::L2Mshrs(std::uint32_t entries)
    : buckets_(std::size_t{2} * entries), entries_(entries), heads_(buckets_.count(), none) {
  for (std::uint32_t i = entries; i-- > 0;) {
    entries_[i].next = free_;
    free_ = i;
  }
}

std::uint32_t L2Mshrs::allocate(std::uint32_t line) {
  const std::uint32_t index = free_;
  free_ = entries_[index].next;
  std::uint32_t& head = heads_[buckets_.of(line)];
  entries_[index] = {};
  entries_[index].line = line;
  entries_[index].next = head;
  if (head != none) entries_[head].before = index;
  head = index;
  ++used_;
  return index;
}

void L2Mshrs::release(std::uint32_t index) {
  Entry& entry = entries_[index];
  (entry.before == none ? heads_[buckets_.of(entry.line)] : entries_[entry.before].next) =
      entry.next;
  if (entry.next != none) entries_[entry.next].before = entry.before;
  entry.next = free_;
  free_ = index;
  --used_;
}

}  // namespace lockstep
