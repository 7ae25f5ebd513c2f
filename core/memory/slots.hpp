#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

/// Returns a free place of `slots`, the last freed one first; `slots` grows if there is none.
template <class Slot>
std::uint32_t take_slot(std::vector<Slot>& slots, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    slots.emplace_back();
    return static_cast<std::uint32_t>(slots.size() - 1);
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  return index;
}

}  // namespace lockstep
