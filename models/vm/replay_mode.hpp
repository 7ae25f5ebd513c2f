#pragma once

#include <cstdint>

namespace lockstep {

/// SMs that the GMMU tells that a page has come, and what a refused SM may do meanwhile.
enum class ReplayMode : std::uint8_t {
  listed,     ///< the TLBs that were refused (001, section B.2)
  broadcast,  ///< all SMs, each asks again for all it was refused (000, section 2.2)
  block_tlb,  ///< as listed; a refused TLB takes no new translations until then (001, section B.1)
};

}  // namespace lockstep
