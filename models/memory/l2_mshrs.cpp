#include "models/memory/l2_mshrs.hpp"

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
  head = index;
  ++used_;
  return index;
}

void L2Mshrs::release(std::uint32_t index) {
  std::uint32_t* place = &heads_[buckets_.of(entries_[index].line)];
  while (*place != index) place = &entries_[*place].next;
  *place = entries_[index].next;
  entries_[index].next = free_;
  free_ = index;
  --used_;
}

}  // namespace lockstep
