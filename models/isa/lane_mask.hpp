#pragma once

#include <bit>
#include <cstdint>

namespace lockstep::isa {

/// `count` lanes from `first` on.
constexpr std::uint32_t lanes_from(unsigned first, unsigned count) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
}

/// Calls function(lane) for each lane of a mask, the lowest first.
template <class Function>
void for_each_lane(std::uint32_t lanes, Function&& function) {
  for (; lanes != 0; lanes &= lanes - 1) function(static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace lockstep::isa
