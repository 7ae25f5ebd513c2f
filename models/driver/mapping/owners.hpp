#pragma once

#include <cstdint>

#include "models/host_link/owner.hpp"

namespace lockstep {

enum class UnmappingPart : std::uint32_t {
  departure = 0,      ///< managed pages that leave (Departures)
  rearrangement = 2,  ///< pages that Rearranger puts back afterwards
  nobody = 3,         ///< no owner: the frames become free
};
/// The part that has pages unmapped.
using UnmappingOwner = Owner<UnmappingPart, std::uint32_t, 2>;
inline constexpr UnmappingOwner nobody_unmaps{UnmappingPart::nobody, UnmappingOwner::most};

enum class CopyPart : std::uint32_t {
  rearrangement,  ///< a mapped page (Rearranger)
  foreign_page,   ///< a foreign page, for the page manager
};
/// The part that has a page copied to another frame; the copy's id comes back.
using CopyOwner = Owner<CopyPart, std::uint32_t, 1>;

}  // namespace lockstep
