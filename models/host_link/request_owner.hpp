#pragma once

#include <cstdint>

#include "models/host_link/owner.hpp"

namespace lockstep {

enum class RequestPart : std::uint32_t {
  transfer = 0,       ///< a line of a transfer (HostLink)
  mapping = 4,        ///< entries of a mapping are written (Mapper)
  rearrangement = 5,  ///< entries of a rearrangement are written (Rearranger)
};
/// Part of the host that sent a request to memory, in the tag of the request, which comes back.
using RequestOwner = Owner<RequestPart, std::uint32_t, 3>;

}  // namespace lockstep
