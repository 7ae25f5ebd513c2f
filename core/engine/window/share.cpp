#include "core/engine/window/share.hpp"

#include <algorithm>
#include <bit>

#include "core/engine/window/due_before.hpp"

namespace lockstep {

void Share::select(const std::vector<Time>& horizons, bool everyone,
                   CacheAlignedVector<Time>& floors) {
  to_run.clear();
  for (const Segment& segment : segments) {
    Time quiet = Time::never();
    for (std::uint32_t begin = segment.begin; begin < segment.end; begin += 64) {
      const std::uint32_t count = std::min(segment.end - begin, 64u);
      std::uint64_t called = ~std::uint64_t{0} >> (64 - count);
      if (!everyone) called = due_before(&due[begin], count, horizons[segment.kind], quiet);
      for (; called != 0; called &= called - 1)
        to_run.push_back(begin + static_cast<std::uint32_t>(std::countr_zero(called)));
    }
    Time& floor = floors[segment.kind];
    floor = std::min(floor, quiet);
  }
}

/// Kinds and components that were expensive recently come first, so that a window ends with small
/// pieces.
void Share::order_longest_first(std::span<const Slot> all, std::size_t kinds) {
  std::vector<std::uint64_t> kind_cost(kinds, 0);
  for (const std::uint32_t slot : slots) {
    std::uint64_t& cost = kind_cost[all[slot].kind];
    cost = std::max<std::uint64_t>(cost, all[slot].cost);
  }
  std::sort(slots.begin(), slots.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Slot& left = all[a];
    const Slot& right = all[b];
    const std::uint64_t left_kind = kind_cost[left.kind];
    const std::uint64_t right_kind = kind_cost[right.kind];
    if (left_kind != right_kind) return left_kind > right_kind;
    if (left.kind != right.kind) return left.kind < right.kind;
    // Only clear differences: neighbours in memory stay neighbours.
    const std::uint32_t left_class = left.cost / (left_kind / 8 + 1);
    const std::uint32_t right_class = right.cost / (right_kind / 8 + 1);
    return left_class != right_class ? left_class > right_class : a < b;
  });
  segments.clear();
  due.resize(slots.size());
  to_run.reserve(slots.size());
  mail.resize(slots.size());
  for (std::uint32_t position = 0; position < slots.size(); ++position) {
    const Slot& slot = all[slots[position]];
    due[position] = std::min(slot.next, slot.pending.earliest());
    if (segments.empty() || segments.back().kind != slot.kind) {
      segments.push_back({position, position, slot.kind});
    }
    ++segments.back().end;
  }
}

}  // namespace lockstep
