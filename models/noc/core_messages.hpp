/// Messages between CPU cores and the host.
///
/// A core starts its tenant's program by itself, and tells the host once when the program has
/// executed its measured instructions; the host stops all cores when every tenant has been
/// measured.
#pragma once

#include <cstdint>

#include "core/time/time.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// core_measured.
struct CoreMeasured {
  Time at;                         ///< time at which the last measured instruction retired
  std::uint64_t instructions = 0;  ///< retired instructions
  std::uint64_t compared = 0;      ///< lines that were read and compared (`--check`)
  std::uint16_t tenant = 0;
  std::array<std::uint16_t, 3> reserved{};
};
static_assert(sizeof(CoreMeasured) == 32);

/// Message core_mistaken, sent for the first line with unexpected content.
struct CoreMistaken {
  std::uint64_t offset = 0;  ///< offset of the line in the tenant's memory
  std::uint16_t tenant = 0;
  std::array<std::uint16_t, 3> reserved{};
};
static_assert(sizeof(CoreMistaken) == 16);

/// stop_core.
struct CoreStop {
  std::uint64_t reserved = 0;
};

}  // namespace lockstep
