/// Live ranges after one value was spilled, derived from those before: values that stay in
/// registers are live in the same places, at later positions.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/lowering/allocation/live_ranges.hpp"
#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/registers.hpp"

namespace lockstep::isa::lowering {

/// An operation that mentioned the spilled register and now mentions one of its own.
struct Detour {
  Place place;  ///< place before operations were added
  std::uint32_t temporary = 0;
  std::uint32_t mentions = 0;
  bool loads = false, saves = false;  ///< an operation was added before it, behind it
  bool writes_others = false;
};

/// Shifts the ranges.  `function` has the detours already, ascending by place.  Returns false,
/// without an effect, where the old ranges do not determine the new ones: a result without readers
/// and a result that leaves the block end alike if nothing follows in the block.
bool shift_ranges(const ir::Function& function, const Flow& flow, std::uint32_t victim,
                  const std::vector<Detour>& detours, std::vector<LiveRange>& ranges);

}  // namespace lockstep::isa::lowering
