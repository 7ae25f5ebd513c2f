#pragma once

#include <cstdint>

namespace lockstep {

/// Choice of the SMs that the GMMU tells about a page that has come, and of what a refused SM may
/// do meanwhile.
enum class ReplayMode : std::uint8_t {
  listed,     ///< the GMMU tells the SMs that were refused (001, section B.2)
  broadcast,  ///< the GMMU tells all SMs; each asks again for all refused pages (000, section 2.2)
  /// As `listed`; a refused TLB takes no new translations until then (001, section B.1).
  block_tlb,
};

}  // namespace lockstep
