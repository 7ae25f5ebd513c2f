/// The end of a tenant that made a mistake: its blocks leave as if they were done.
///
/// Threads end where they stand.  What has not left the load-store unit never does; answers to what
/// has are waited for, so that blocks end as always.  Source: architecture.md, section 8, rule 5.
#include <bit>

#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

void SmState::abort_tenant(std::uint16_t tenant, std::int64_t now) {
  account_stalls(now);
  count_fault_waits(now);
  wake_queue(now);
  drop_staged(tenant, now);
  std::uint64_t left = kill_warps(tenant);
  drop_queued(tenant, now);
  drop_parked(tenant, now);
  find_fault_waits();
  update_memory_gate(now);
  for (; left != 0; left &= left - 1) evaluate(static_cast<unsigned>(std::countr_zero(left)), now);
}

void SmState::drop_staged(std::uint16_t tenant, std::int64_t now) {
  for (std::size_t i = 0; i < staged.size();) {
    if (grids[slot_of_grid(staged[i].grid)].launch.tenant != tenant) {
      ++i;
      continue;
    }
    outbox->send(to_dispatcher, time_of(now), kind_of(MessageKind::block_done),
                 BlockDone{{staged[i].grid, setup.index, staged[i].block}, {}});
    staged.erase(staged.begin() + static_cast<std::ptrdiff_t>(i));
  }
  start_staged(now);
  forget_ended_grids();
}

/// A warp that has been drained waits for nothing.  One that waits for `control` is looked at again
/// when that is over, which cannot be called off.
std::uint64_t SmState::kill_warps(std::uint16_t tenant) {
  std::uint64_t known = 0;
  for (const std::uint64_t warps_ready : ready) known |= warps_ready;
  for (const std::uint64_t warps_waiting : waiting) known |= warps_waiting;
  std::uint64_t killed = 0;
  for (std::uint64_t left = known & resident; left != 0; left &= left - 1) {
    Warp& warp = warps[static_cast<unsigned>(std::countr_zero(left))];
    if (warp.tenant != tenant) continue;
    killed |= bit(slot_of(warp));
    warp.paths.start(0);
    blocks[warp.block].alive_threads = 0;
    blocks[warp.block].gathering = 0;
    blocks[warp.block].barriers = {};
  }
  const std::uint64_t again = killed & ~waits(StallCause::control);
  for (std::uint64_t& warps_ready : ready) warps_ready &= ~again;
  for (std::uint64_t& warps_waiting : waiting) warps_waiting &= ~again;
  return again;
}

void SmState::drop_queued(std::uint16_t tenant, std::int64_t now) {
  const std::uint32_t count = queue_count;
  queue_count = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Access& access = queue[queue_place(i)];
    if (warps[access.warp].tenant != tenant) {
      queue[queue_place(queue_count++)] = access;
      continue;
    }
    forget_lines(access, access.groups - access.next);
    if (access.parked != TranslationUnit::none) translation.release(access.parked);
    if (access.flight != SlotPool<Flight>::none) answered(access.flight, 0, now);
  }
}

/// Pages asked for are forgotten when the answer comes.
void SmState::drop_parked(std::uint16_t tenant, std::int64_t now) {
  translation.for_each_miss([&](std::uint16_t i) {
    if (translation.miss(i).tenant() != tenant) return;
    while (translation.miss(i).first != TranslationUnit::none) {
      const Access access = translation.access_of(translation.front(i));
      translation.pop(i);
      forget_lines(access, 1);
      if (access.flight != SlotPool<Flight>::none) answered(access.flight, 0, now);
    }
    const PageMiss::State state = translation.miss(i).state;
    if (state == PageMiss::State::draining) {
      page_done(i, now);
    } else if (state == PageMiss::State::invalid || state == PageMiss::State::refused) {
      translation.give_back_miss(i);
    }
  });
}

void SmState::forget_lines(const Access& access, unsigned count) {
  if (access.local || !access.writes()) return;
  Warp& warp = warps[access.warp];
  BlockSlot& block = blocks[warp.block];
  warp.stores = static_cast<std::uint16_t>(warp.stores - count);
  (access.phase == block.phase ? block.fresh_stores : block.ordered_stores) -= count;
}

}  // namespace lockstep
