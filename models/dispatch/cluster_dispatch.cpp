/// Clusters of blocks that go out, for the first time or once more (see dispatcher.hpp).
///
/// Saved clusters come first, then those that were flushed, then those that have never started.
#include <algorithm>
#include <map>

#include "models/dispatch/dispatcher.hpp"
#include "models/noc/cluster_messages.hpp"

namespace lockstep {

std::optional<std::uint64_t> DispatchedGrid::first_flushed_cluster() const {
  std::map<std::uint64_t, std::uint32_t> there;
  for (const ReturnedBlock& one : returned) ++there[place_in_cluster(launch, one.block).cluster];
  for (const auto& [cluster, blocks_there] : there)
    if (blocks_there == cluster_blocks()) return cluster;
  return std::nullopt;
}

void DispatchedGrid::take_flushed_cluster(std::uint64_t cluster) {
  std::erase_if(returned, [&](const ReturnedBlock& one) {
    return place_in_cluster(launch, one.block).cluster == cluster;
  });
}

std::uint32_t Dispatcher::send_cluster(std::size_t index, std::uint32_t first_sm, Time now,
                                       Outbox& outbox) {
  if (std::ranges::count(clusters_wait_, index) > 0) return 0;
  Grid& grid = grids_[index];
  const std::optional<std::uint64_t> saved = grid.saved_clusters.first_whole(grid.launch);
  const std::optional<std::uint64_t> flushed = grid.first_flushed_cluster();
  if (!saved && !flushed && grid.next_block == grid.blocks) return 0;
  const std::vector<std::uint32_t> places = cluster_places_.find(
      grid, first_sm, [&](std::uint32_t sm) { return sm == first_sm || choose(sm) == index; });
  if (places.empty()) {
    clusters_wait_.push_back(index);
    return 0;
  }
  for (const std::uint32_t sm : places) preempting_.resume(grid, sm, now, outbox);
  if (saved) {
    const std::vector<BlockInHand> blocks = grid.saved_clusters.take(grid.launch, *saved);
    for (std::size_t rank = 0; rank < places.size(); ++rank)
      send_saved(grid, blocks[rank], places[rank], now, outbox);
    return grid.cluster_blocks();
  }
  std::uint64_t cluster = grid.next_block / grid.cluster_blocks();
  if (flushed) {
    cluster = *flushed;
    grid.take_flushed_cluster(cluster);
  } else {
    grid.next_block += grid.cluster_blocks();
  }
  for (std::uint32_t rank = 0; rank < places.size(); ++rank)
    send(grid, block_in_cluster(grid.launch, {cluster, rank}), places[rank], false, now, outbox);
  return grid.cluster_blocks();
}

/// The place is kept from now on: the other blocks of the cluster must not be held up by this one.
void Dispatcher::send_saved(Grid& grid, const BlockInHand& saved, std::uint32_t sm, Time now,
                            Outbox& outbox) {
  const std::uint64_t block = saved.block.block.block;
  grid.introduce_at(sm, to_sms_[sm], now, outbox);
  grid.goes_to(sm, block);
  ++grid.coming_back;
  preempting_.sent(sm, grid, now);
  if (saved.block.block.sm != sm) ++statistics_.blocks_moved[grid.launch.tenant];
  sms_.occupy(sm, grid, block);
  BlockGiven given = saved.block;
  if (const auto at = sms_.position_of(sm, grid, block)) {
    given.has_position = 1;
    given.at = *at;
  }
  outbox.send(to_sms_[sm], now, kind_of(MessageKind::block_given), given, saved.payload);
}

void Dispatcher::keep_of_cluster(Grid& grid, const BlockGiven& given,
                                 std::span<const std::byte> context) {
  grid.saved_clusters.add(grid.launch, {given, {context.begin(), context.end()}});
}

/// The blocks are done, as blocks are that end in an SM with their tenant.
void Dispatcher::drop_saved_clusters(Grid& grid, Time now, Outbox& outbox) {
  for (const BlockInHand& one : grid.saved_clusters.take_all()) {
    one.give_back(to_sms_[one.block.block.sm], now, outbox);
    --grid.running;
    ++grid.done;
    ++statistics_.blocks_done[grid.launch.tenant];
  }
}

}  // namespace lockstep
