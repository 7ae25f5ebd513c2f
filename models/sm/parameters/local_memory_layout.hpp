#pragma once

#include <cstdint>

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/parameters/sm_parameters.hpp"

namespace lockstep {

/// Returns the places of local memory that belong to an SM: one for each of its warp slots and, if
/// blocks leave, one for each warp of `in_memory` blocks, and one for each slot's warp that runs on
/// another SM.
std::uint32_t local_homes(const SmParameters& parameters, std::uint32_t in_memory = 0);
/// Returns the bytes of physical address space for the homes.
std::uint64_t local_memory_bytes(const SmParameters& parameters, std::uint32_t in_memory = 0);

/// Layout of the threads' local memory: word w of the 32 lanes of a warp fills one line, so that
/// lanes that use the same offset touch one line.
class LocalMemoryLayout {
 public:
  LocalMemoryLayout(PhysicalAddress base, std::uint64_t bytes_per_thread)
      : base_(base), lines_per_warp_(bytes_per_thread / 4) {}

  PhysicalAddress first_line_of(LocalHome home) const {
    return base_ + home.value() * lines_per_warp_ * line_bytes;
  }
  /// Returns the home to which the line belongs.
  LocalHome home_of(PhysicalAddress line) const {
    return LocalHome(static_cast<std::uint32_t>((line - base_) / line_bytes / lines_per_warp_));
  }

 private:
  PhysicalAddress base_;
  std::uint64_t lines_per_warp_;
};

}  // namespace lockstep
