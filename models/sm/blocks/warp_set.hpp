#pragma once

#include <bit>
#include <cstdint>

#include "models/noc/ids.hpp"

namespace lockstep {

/// Sets of warps are masks over their slots.
constexpr std::uint64_t bit_of(WarpSlot warp) {
  return std::uint64_t{1} << warp.value();
}
constexpr WarpSlot first_of(std::uint64_t warps) {
  return WarpSlot(static_cast<std::uint16_t>(std::countr_zero(warps)));
}
/// Calls function(slot) for each warp of the set, from the lowest slot to the highest.
template <class Function>
void for_each_warp(std::uint64_t warps, Function&& function) {
  for (; warps != 0; warps &= warps - 1) function(first_of(warps));
}

}  // namespace lockstep
