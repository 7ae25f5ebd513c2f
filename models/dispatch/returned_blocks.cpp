/// Blocks that were sent to an SM and go out again (see dispatcher.hpp).
#include <algorithm>

#include "models/dispatch/dispatcher.hpp"

namespace lockstep {

/// A block that was staged comes back.
void Dispatcher::block_returned(const BlockReference& block, Time now, Outbox& outbox) {
  const auto grid = grids_.at(block.grid);
  if (sms_.is_staged(block))
    sms_.unstage(block.sm);
  else  // the block's own place was not free yet
    place_is_free(*grid, PreemptionRecord(block, Technique::drain, now));
  ++statistics_.blocks_returned[grid->launch.tenant];
  send_again(grid, block, false, now, outbox);
}

void Dispatcher::block_flushed(const BlockDone& flushed, Time now, Outbox& outbox) {
  const BlockReference& block = flushed.block;
  const auto grid = grids_.at(block.grid);
  PreemptionRecord record(block, Technique::flush, now);
  record.lost = flushed.work.executed.warp;
  place_is_free(*grid, record);
  grid->let_go -= flushed.had_let_go;
  InstructionCount kept = flushed.executed;
  kept -= flushed.work.executed;
  grid->executed += kept;
  count(TenantId{grid->launch.tenant}, kept, now, outbox);
  ++statistics_.blocks_restarted[grid->launch.tenant];
  statistics_.wasted_instructions[grid->launch.tenant] += record.lost;
  send_again(grid, block, true, now, outbox);
}

/// The block goes out before blocks that never did, and before later ones, which may wait for it.
void Dispatcher::send_again(GridPlace grid, const BlockReference& block, bool was_flushed, Time now,
                            Outbox& outbox) {
  --grid->running;
  if (grid->aborted) {
    --grid->blocks;
    if (grid->is_over()) finish_grid(grid, now, outbox);
  } else {
    const auto later = std::find_if(grid->returned.begin(), grid->returned.end(),
                                    [&](const auto& other) { return other.block > block.block; });
    grid->returned.insert(later, {block.block, was_flushed});
  }
}

}  // namespace lockstep
