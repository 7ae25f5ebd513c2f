#pragma once

#include <cstdint>

namespace lockstep {

/// Returns the first multiple of `unit` that is not below `value`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace lockstep
