#include "models/sm/cluster/cluster_barriers.hpp"

#include <bit>
#include <utility>

#include "models/isa/ir.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::Instruction;

static constexpr auto cluster_wait = static_cast<std::uint16_t>(isa::ir::ClusterBarrierStep::wait);

void ClusterBarriers::issue(WarpSlot slot, const Instruction& instruction,
                            const IssueRecord& record, std::uint32_t lanes, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  const BlockPlace place(warp.block);
  ClusterBlocks::Member& member = members_[place];
  if (member.lanes.empty()) {
    const std::uint32_t warps = blocks_.grid_of(warp).block.warps;
    member.lanes.assign(warps, 0);
    member.passed.assign(warps, 0);
    member.since.assign(warps, SmCycle{});
  }
  std::uint32_t& arrived = member.lanes[warp.warp_in_block];
  std::uint32_t& passed = member.passed[warp.warp_in_block];
  const auto mistaken = [&](std::uint32_t those, const char* what, const char* advice) {
    mistakes_.user_error(warp, warp.paths.pc(), static_cast<unsigned>(std::countr_zero(those)),
                         what, advice);
  };
  if (instruction.detail != cluster_wait) {
    if (const std::uint32_t again = (arrived | passed) & lanes; again != 0)
      mistaken(again, "arrives at barrier.cluster twice without waiting between",
               "put barrier.cluster.wait behind each barrier.cluster.arrive");
    if (lanes != 0) ++statistics_.tenant[warp.tenant].barriers;
    arrived |= lanes;
    member.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
    warp.paths.advance();
    front_end_.resume_at(slot, now + record.latency);
    return check(place, now);
  }
  if (const std::uint32_t never = lanes & ~(arrived | passed); never != 0)
    mistaken(never, "waits at barrier.cluster without having arrived",
             "put barrier.cluster.arrive before each barrier.cluster.wait");
  if ((arrived & lanes) == 0) {
    passed &= ~lanes;
    if ((record.flags & IssueRecord::ordered_after) != 0) l1_.drop_clean();
    warp.paths.advance();
    return front_end_.resume_at(slot, now + record.latency);
  }
  warp.paths.wait();
  member.since[warp.warp_in_block] = now;
  if (warp.paths.runnable()) {
    front_end_.resume_at(slot, now + 1);
  } else {
    front_end_.wait_for_cluster(slot);
  }
  front_end_.report_if_stuck(place, now);
}

/// The sum alone is not enough: threads may end between their arrival and their wait.
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
  if (member.block.size <= 1) return release(place, now);
  member.told = true;
  // From now on other blocks may let the warps of this block go on.
  for_each_warp(block.warps, [&](WarpSlot slot) { front_end_.waits_for_cluster(slot); });
  members_.tell_hub(MessageKind::cluster_arrives, member.block, now);
}

void ClusterBarriers::release(BlockPlace place, SmCycle now) {
  ClusterBlocks::Member& member = members_[place];
  const BlockSlot& block = blocks_.block(place);
  member.told = false;
  member.arrived = 0;
  GridCounts& counts = blocks_.counts(block.grid);
  ++counts.cluster_barriers;
  const SmCycle when =
      now + std::max<std::int64_t>(1, constants_.setup.noc.hub.barrier_latency.count());
  bool acquires = false;
  for_each_warp(block.warps, [&](WarpSlot slot) {
    Warp& warp = blocks_.warp(slot);
    const std::size_t w = warp.warp_in_block;
    std::uint32_t lanes = 0;
    warp.paths.for_each_waiting([&](std::uint32_t pc, std::uint32_t path) {
      if (blocks_.instruction(warp, pc).category != isa::Category::cluster_barrier) return;
      lanes |= path;
      acquires |= (warp.records[pc].flags & IssueRecord::ordered_after) != 0;
    });
    member.passed[w] |= std::exchange(member.lanes[w], 0) & ~lanes;
    if (lanes == 0) return;
    counts.cluster_wait_cycles += static_cast<std::uint64_t>(when - member.since[w]);
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
