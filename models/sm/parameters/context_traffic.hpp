#pragma once

#include <cstdint>

#include "core/parameters/limits.hpp"

namespace lockstep {

/// How contexts of blocks move between an SM and GPU memory.
enum class ContextTraffic : std::uint8_t {
  real,   ///< as requests through the memory system
  share,  ///< without any, in the time that the SM's share of the memory bandwidth takes
  ideal,  ///< without any, in a cycle
};

/// As a parameter, `traffic`.
inline Choice context_traffics() {
  return choice({"real", "share"});
}
inline constexpr const char* context_traffic_doc =
    "how contexts move: as requests through the memory system, or without any, each in the time "
    "that its registers and shared memory take at the SM's share of the peak bandwidth (003, "
    "section 3.3.2)";

}  // namespace lockstep
