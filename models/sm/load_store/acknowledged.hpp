#pragma once

#include "models/sm/front_end/front_end.hpp"

namespace lockstep {

/// Lets warps of the block go on whose releases waited for the acknowledgement.
inline void end_fences(ResidentBlocks& blocks, FrontEnd& front_end, const BlockSlot& block,
                       SmCycle now) {
  for_each_warp(front_end.waiting(StallCause::fence) & block.warps, [&](WarpSlot slot) {
    if (!blocks.released(slot)) return;
    front_end.end_wait(StallCause::fence, slot, now);
    front_end.wake_at(now);
  });
}

/// Counts the acknowledgement of a store of the warp, whose block is still there. `phase`: phase of
/// the block when the store was issued.
[[gnu::always_inline]] inline void store_acknowledged(ResidentBlocks& blocks, FrontEnd& front_end,
                                                      WarpSlot slot, BlockPlace place,
                                                      std::uint32_t phase, SmCycle now) {
  const bool was_last = blocks.under_way().store_ends(slot, place, phase);
  const BlockSlot& block = blocks.block(place);
  if ((front_end.waiting(StallCause::fence) & block.warps) != 0) [[unlikely]]
    end_fences(blocks, front_end, block, now);
  if (was_last && (front_end.waiting(StallCause::drain) & bit_of(slot)) != 0) {
    front_end.wake_at(now);
    front_end.end_wait(StallCause::drain, slot, now);
  }
}

}  // namespace lockstep
