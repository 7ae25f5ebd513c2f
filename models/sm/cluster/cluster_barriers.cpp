#include "models/sm/cluster/cluster_barriers.hpp"

#include <bit>

#include "models/isa/ir.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::Instruction;

static constexpr auto cluster_wait = static_cast<std::uint16_t>(isa::ir::ClusterBarrierStep::wait);

void ClusterBarriers::issue(WarpSlot slot, const Instruction& instruction,
                            const IssueRecord& record, std::uint32_t lanes, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  const BlockPlace place(warp.block);
  const bool is_wait = instruction.detail == cluster_wait;
  const ClusterBlocks::Member& member = members_[place];
  const std::uint32_t due = member.lanes.empty() ? 0 : member.lanes[warp.warp_in_block];
  if (is_wait && (due & lanes) != 0) {
    warp.paths.wait();
    members_[place].since[warp.warp_in_block] = now;
    if (warp.paths.runnable()) {
      front_end_.resume_at(slot, now + 1);
    } else {
      front_end_.wait_at_barrier(slot);
    }
    return front_end_.report_if_stuck(place, now);
  }
  if (!is_wait && lanes != 0) {
    ++statistics_.tenant[warp.tenant].barriers;
    if ((due & lanes) != 0)
      mistakes_.user_error(warp, warp.paths.pc(),
                           static_cast<unsigned>(std::countr_zero(due & lanes)),
                           "arrives at barrier.cluster once more without having waited for it",
                           "let each barrier.cluster.arrive be followed by a barrier.cluster.wait");
    arrive(slot, lanes, now);
  }
  if (is_wait && (record.flags & IssueRecord::ordered_after) != 0) l1_.drop_clean();
  warp.paths.advance();
  front_end_.resume_at(slot, now + record.latency);
  if (!is_wait) check(place, now);
}

void ClusterBarriers::arrive(WarpSlot slot, std::uint32_t lanes, SmCycle) {
  const Warp& warp = blocks_.warp(slot);
  const BlockSlot& block = blocks_.block_of(warp);
  ClusterBlocks::Member& member = members_[BlockPlace(warp.block)];
  if (member.lanes.empty()) {
    member.lanes.resize(blocks_.grid(block.grid).block.warps);
    member.since.assign(member.lanes.size(), SmCycle{});
  }
  member.lanes[warp.warp_in_block] |= lanes;
  member.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
}

/// Threads may end between their arrival and their wait, so that the sum alone does not tell.
void ClusterBarriers::check(BlockPlace place, SmCycle now) {
  ClusterBlocks::Member& member = members_[place];
  const BlockSlot& block = blocks_.block(place);
  if (member.told || member.arrived < block.alive_threads || block.alive_threads == 0) return;
  bool all = true;
  for_each_warp(block.warps, [&](WarpSlot slot) {
    const Warp& warp = blocks_.warp(slot);
    all &= (warp.paths.alive() & ~member.lanes[warp.warp_in_block]) == 0;
  });
  if (!all) return;
  blocks_.under_way().order_stores(place);
  if (member.is_alone()) return release(place, now);
  member.told = true;
  // From now on other blocks may let its warps go on.
  for_each_warp(block.warps, [&](WarpSlot slot) { front_end_.waits_for_cluster(slot); });
  members_.tell_hub(MessageKind::cluster_arrives, member.block, now);
}

void ClusterBarriers::release(BlockPlace place, SmCycle now) {
  ClusterBlocks::Member& member = members_[place];
  const BlockSlot& block = blocks_.block(place);
  member.told = false;
  member.arrived = 0;
  member.lanes.clear();
  GridCounts& counts = blocks_.counts(block.grid);
  ++counts.cluster_barriers;
  const SmCycle when = now + std::max<std::int64_t>(
                                 1, constants_.setup.noc.hub.barrier_latency.count());
  bool acquires = false;
  for_each_warp(block.warps, [&](WarpSlot slot) {
    Warp& warp = blocks_.warp(slot);
    std::uint32_t lanes = 0;
    warp.paths.for_each_waiting([&](std::uint32_t pc, std::uint32_t path) {
      if (blocks_.instruction(warp, pc).category != isa::Category::cluster_barrier) return;
      lanes |= path;
      acquires |= (warp.records[pc].flags & IssueRecord::ordered_after) != 0;
    });
    if (lanes == 0) return;
    counts.cluster_wait_cycles +=
        static_cast<std::uint64_t>(when - member.since[warp.warp_in_block]);
    const bool stood = !warp.paths.runnable();
    warp.paths.release(lanes);
    if (stood) front_end_.release_from_barrier(slot, when);
  });
  front_end_.end_waits_for_cluster(block.warps);
  if (acquires) l1_.drop_clean();
  front_end_.wake_at(now);
  front_end_.report_if_stuck(place, now);
}

}  // namespace lockstep
