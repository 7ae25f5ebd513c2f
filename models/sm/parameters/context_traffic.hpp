#pragma once

#include <cstdint>

#include "core/parameters/limits.hpp"

namespace lockstep {

/// Traffic of contexts of blocks between an SM and GPU memory.
enum class ContextTraffic : std::uint8_t {
  real,  ///< contexts move as requests through the memory system
  /// Contexts move without traffic, in the time that the SM's share of the memory bandwidth takes.
  share,
  ideal,  ///< contexts move without traffic, in one cycle
};

/// Returns the choices of the parameter `traffic`.
inline Choice context_traffics() {
  return choice({"real", "share"});
}
inline constexpr const char* context_traffic_doc =
    "how contexts move: as requests through the memory system, or without any, each in the time "
    "that its registers and shared memory take at the SM's share of the peak bandwidth (003, "
    "section 3.3.2)";

}  // namespace lockstep
