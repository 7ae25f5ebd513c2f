#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

/// What one component cost in one window.
struct WindowCost {
  std::uint32_t window;
  std::uint32_t component;
  std::uint32_t nanoseconds;
};

/// What --profile records on this rank.
struct Profile {
  std::vector<std::uint64_t> component_nanoseconds;  ///< by component; 0 for those of other ranks
  std::vector<WindowCost> windows;                   ///< the first few million entries
};

}  // namespace lockstep
