#pragma once

#include <cstdint>

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/parameters/sm_parameters.hpp"

namespace lockstep {

/// Bytes of physical address space that an SM's threads need for local memory: those of its warp
/// slots, and of `more` warps whose blocks are not on chip.
std::uint64_t local_memory_bytes(const SmParameters& parameters, std::uint32_t more = 0);

/// Where the local memory of an SM's threads stands: word w of the 32 lanes of a warp in one line,
/// so that lanes that use the same offset touch one line.
class LocalMemoryLayout {
 public:
  LocalMemoryLayout(PhysicalAddress base, std::uint64_t bytes_per_thread)
      : base_(base), lines_per_warp_(bytes_per_thread / 4) {}

  PhysicalAddress first_line_of(LocalHome home) const {
    return base_ + home.value() * lines_per_warp_ * line_bytes;
  }
  /// Whose line this is.
  LocalHome home_of(PhysicalAddress line) const {
    return LocalHome(static_cast<std::uint16_t>((line - base_) / line_bytes / lines_per_warp_));
  }

 private:
  PhysicalAddress base_;
  std::uint64_t lines_per_warp_;
};

}  // namespace lockstep
