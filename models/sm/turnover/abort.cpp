/// The end of a tenant that made a mistake: its blocks leave as if they were done. Threads end
/// where they stand. Accesses that have not left the load-store unit are dropped; answers to
/// accesses that have left are waited for, so that blocks end as always.
///
/// Source: architecture.md, section 8, rule 5.
#include "models/sm/front_end/issue_path.hpp"
#include "models/sm/turnover/block_turnover.hpp"

namespace lockstep {

void BlockTurnover::abort_tenant(TenantId tenant, SmCycle now) {
  front_end_.account_stalls(now);
  translation_.count_fault_waits(now);
  load_store_.retry(now);
  drop_staged(tenant, now);
  drop_in_memory(tenant, now);
  const std::uint64_t killed = kill_warps(tenant);
  // A warp that waits for `control` is evaluated at the end of that wait, since its event cannot be
  // called off.
  const std::uint64_t left = killed & ~front_end_.waiting(StallCause::control);
  front_end_.call_off(left);
  load_store_.drop_tenant(tenant, now);
  // Dropping one access may have called for a squashed one to issue.
  front_end_.call_off_issue(killed);
  for_each_warp(left, [&](WarpSlot slot) { front_end_.evaluate(slot, blocks_.warp(slot), now); });
}

void BlockTurnover::drop_staged(TenantId tenant, SmCycle now) {
  const auto is_theirs = [&](const BlockReference& block) {
    return blocks_.grid(blocks_.place_of(GridId(block.grid))).launch.tenant == tenant.value();
  };
  for (const BlockReference& block : take_staged(is_theirs)) {
    clusters_.drop(block, blocks_.grid(blocks_.place_of(GridId(block.grid))).launch, now);
    ports_.tell_dispatcher(MessageKind::block_done, BlockDone{block, {}, {}}, now);
  }
  start_staged(now);
  forget_ended_grids();
}

/// Counts each block as back in the SM first, since the dispatcher expects that order.
void BlockTurnover::drop_in_memory(TenantId tenant, SmCycle now) {
  for (const BlockDone& done : scheduler_.drop_tenant(tenant, now)) {
    log_done(done, now);
    ports_.tell_dispatcher(MessageKind::block_restored, done.block, now);
    ports_.tell_dispatcher(MessageKind::block_done, done, now);
  }
  forget_ended_grids();
}

/// A warp that has been drained waits for nothing.
std::uint64_t BlockTurnover::kill_warps(TenantId tenant) {
  std::uint64_t killed = 0;
  for_each_warp(front_end_.known() & blocks_.resident(), [&](WarpSlot slot) {
    Warp& warp = blocks_.warp(slot);
    if (warp.tenant != tenant.value()) return;
    killed |= bit_of(slot);
    warp.paths.start(0);
    BlockSlot& block = blocks_.block_of(warp);
    block.alive_threads = 0;
    block.gathering = 0;
    block.barriers = {};
    block.phase_waits.clear();
  });
  return killed;
}

}  // namespace lockstep
