#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/dispatch/block_in_hand.hpp"
#include "models/noc/cluster_messages.hpp"

namespace lockstep {

/// Saved blocks of the clusters of a grid, which return when all blocks of a cluster have been
/// saved and one GPC has room for all of them.
class SavedClusters {
 public:
  /// Returns how many blocks are here.
  std::uint64_t blocks() const { return blocks_; }
  void add(const GridLaunch& launch, BlockInHand block) {
    const std::uint64_t number = place_in_cluster(launch, block.block.block.block).cluster;
    auto cluster = std::find_if(clusters_.begin(), clusters_.end(),
                                [&](const Cluster& other) { return other.number >= number; });
    if (cluster == clusters_.end() || cluster->number != number)
      cluster = clusters_.insert(cluster, {number, {}});
    cluster->blocks.push_back(std::move(block));
    ++blocks_;
  }
  /// Returns the first cluster whose blocks are all here, if there is one.
  std::optional<std::uint64_t> first_whole(const GridLaunch& launch) const {
    for (const Cluster& cluster : clusters_)
      if (cluster.blocks.size() == launch.cluster_blocks()) return cluster.number;
    return std::nullopt;
  }
  /// Removes and returns the blocks of the cluster, by rank.
  std::vector<BlockInHand> take(const GridLaunch& launch, std::uint64_t number) {
    const auto cluster = std::find_if(clusters_.begin(), clusters_.end(),
                                      [&](const Cluster& other) { return other.number == number; });
    std::vector<BlockInHand> taken = std::move(cluster->blocks);
    clusters_.erase(cluster);
    blocks_ -= taken.size();
    const auto rank = [&](const BlockInHand& one) {
      return place_in_cluster(launch, one.block.block.block).rank;
    };
    std::ranges::sort(taken, {}, rank);
    return taken;
  }
  /// Removes and returns all blocks.
  std::vector<BlockInHand> take_all() {
    std::vector<BlockInHand> all;
    for (Cluster& cluster : clusters_) std::ranges::move(cluster.blocks, std::back_inserter(all));
    clusters_.clear();
    blocks_ = 0;
    return all;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(clusters_, blocks_);
  }

 private:
  struct Cluster {
    std::uint64_t number = 0;
    std::vector<BlockInHand> blocks;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(number, blocks);
    }
  };
  std::deque<Cluster> clusters_;  ///< saved clusters, by number
  std::uint64_t blocks_ = 0;
};

}  // namespace lockstep
