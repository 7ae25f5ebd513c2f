#include "models/sm/cluster/cluster_blocks.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

ClusterBlock ClusterBlocks::block_of(const BlockReference& reference, const GridLaunch& launch) {
  const ClusterRank place = place_in_cluster(launch, reference.block);
  ClusterBlock block;
  block.cluster = place.cluster;
  block.grid = launch.grid;
  block.sm = static_cast<std::uint16_t>(reference.sm);
  block.rank = static_cast<std::uint8_t>(place.rank);
  block.size = static_cast<std::uint8_t>(launch.cluster_blocks());
  block.tenant = launch.tenant;
  return block;
}

void ClusterBlocks::begin(BlockPlace place, SmCycle now) {
  Member& member = members_[place.value()];
  member = {};
  come_back(place, now);
}

/// Times are counted from when the block left.
void ClusterBlocks::serialize_at(Archive& archive, BlockPlace place, SmCycle now) {
  Member& member = members_[place.value()];
  std::vector<std::int64_t> waited;
  for (const SmCycle since : member.since) waited.push_back(now - since);
  archive(member.ended, member.told, member.arrived, member.lanes, member.passed, waited);
  member.since.clear();
  for (const std::int64_t cycles : waited) member.since.push_back(now - cycles);
}

void ClusterBlocks::come_back(BlockPlace place, SmCycle now) {
  Member& member = members_[place.value()];
  const BlockSlot& slot = blocks_.block(place);
  const GridLaunch& launch = blocks_.grid(slot.grid).launch;
  member.block = {};
  member.block.size = 1;
  if (launch.cluster_blocks() == 1) return;
  member.block = block_of({launch.grid, constants_.setup.index, slot.index}, launch);
  member.block.places =
      static_cast<std::uint16_t>(blocks_per_sm(blocks_.grid(slot.grid).block, constants_.limits));
  tell_hub(MessageKind::cluster_joins, member.block, now);
  if (member.told) {
    for_each_warp(slot.warps, [&](WarpSlot warp) { front_end_.waits_for_cluster(warp); });
    tell_hub(MessageKind::cluster_arrives, member.block, now);
  }
  if (member.ended) tell_hub(MessageKind::cluster_ends, member.block, now);
}

bool ClusterBlocks::end(BlockPlace place, SmCycle now) {
  Member& member = members_[place.value()];
  front_end_.end_waits_for_cluster(blocks_.block(place).warps);
  member.arrived = 0;
  if (member.block.size <= 1) return false;
  member.ended = true;
  tell_hub(MessageKind::cluster_ends, member.block, now);
  return true;
}

void ClusterBlocks::drop(const BlockReference& reference, const GridLaunch& launch, SmCycle now) {
  if (launch.cluster_blocks() == 1) return;
  tell_hub(MessageKind::cluster_ends,
           block_of({launch.grid, constants_.setup.index, reference.block}, launch), now);
}

BlockPlace ClusterBlocks::place_of(std::uint32_t grid, std::uint64_t cluster,
                                   std::uint32_t rank) const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const BlockPlace place(static_cast<std::uint8_t>(i));
    const ClusterBlock& block = members_[i].block;
    if (blocks_.block(place).used && block.size > 1 && block.grid == grid &&
        block.cluster == cluster && block.rank == rank)
      return place;
  }
  internal_error(__FILE__, __LINE__, "cluster", "a message names a block that is not here");
}

BlockPlace ClusterBlocks::leave(const ClusterBlock& block) {
  const BlockPlace place = place_of(block.grid, block.cluster, block.rank);
  members_[place.value()].block.size = 1;
  return place;
}

std::string ClusterBlocks::waiting_for() const {
  const auto ended = std::ranges::count_if(
      members_, [](const Member& member) { return member.block.size > 1 && member.ended; });
  if (ended == 0) return "";
  return "; " + std::to_string(ended) + " blocks have ended and wait for others of their clusters";
}

}  // namespace lockstep
