#pragma once

#include <cstdint>

#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Keeper of mbarriers, which count the bytes of bulk copies.
class Transactions {
 public:
  virtual ~Transactions() = default;
  /// Bytes of a bulk copy have come that the lane of the warp has begun at `pc`; `offset`: of the
  /// mbarrier in the block's shared memory.
  virtual void complete(WarpSlot slot, std::uint32_t pc, unsigned lane, std::uint32_t offset,
                        std::uint64_t bytes, SmCycle now) = 0;
};

}  // namespace lockstep
