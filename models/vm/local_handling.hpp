#pragma once

#include <array>
#include <cstdint>

#include "core/time/time.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

/// How the GPU handles faults on untouched pages by itself (gmmu/local_handlers.hpp).
struct LocalHandling {
  Time latency;
  std::uint32_t per_sm = 0;  ///< handlers at once on an SM; 0: any number
  std::uint32_t pool = 0;    ///< granules of zeroed frames that the driver keeps ready
};

/// Physical address of the frame, or entry, for each page of a granule of local handling.
using GranuleFrames = std::array<std::uint64_t, pages_per_block>;

/// Returns the entry of a page that got a frame from a handler.
constexpr PageTableEntry granule_entry(std::uint64_t frame) {
  return PageTableEntry::of(frame, PageTableEntry::present | PageTableEntry::writable);
}

}  // namespace lockstep
