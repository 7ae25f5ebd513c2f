#include "models/memory/l2_mshrs.hpp"

#include <bit>

namespace lockstep {

L2Mshrs::L2Mshrs(std::uint32_t entries)
    : hash_shift_(32 - static_cast<std::uint32_t>(std::bit_width(2 * entries))),
      entries_(entries),
      heads_(std::size_t{1} << (32 - hash_shift_), none) {
  for (std::uint32_t i = entries; i-- > 0;) {
    entries_[i].next = free_;
    free_ = i;
  }
}

std::uint32_t L2Mshrs::allocate(std::uint32_t line) {
  const std::uint32_t index = free_;
  free_ = entries_[index].next;
  std::uint32_t& head = heads_[hash(line)];
  entries_[index] = {};
  entries_[index].line = line;
  entries_[index].next = head;
  head = index;
  ++used_;
  return index;
}

void L2Mshrs::release(std::uint32_t index) {
  std::uint32_t* place = &heads_[hash(entries_[index].line)];
  while (*place != index) place = &entries_[*place].next;
  *place = entries_[index].next;
  entries_[index].next = free_;
  free_ = index;
  --used_;
}

}  // namespace lockstep
