#pragma once

#include <cstdint>
#include <optional>

#include "models/isa/types.hpp"
#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Keeper of mbarriers at which threads of other blocks of the cluster arrive.
class Arrivals {
 public:
  virtual ~Arrivals() = default;
  /// Executes an operation with `count` at the mbarrier of the block.  Returns the barrier's word
  /// if the operation is a mistake, which changes nothing.
  virtual std::optional<std::uint64_t> arrive(BlockPlace place, std::uint32_t offset,
                                              isa::AtomicOperation operation, std::uint64_t count,
                                              SmCycle now) = 0;
};

}  // namespace lockstep
