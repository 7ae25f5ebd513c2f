/// Barrier of a cluster that is interpreted (barrier.cluster): each thread arrives, then waits, as
/// often as it likes; a phase is over when all threads that have not ended have arrived.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/interpreter/races/shared_races.hpp"
#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class ClusterBarrier {
 public:
  /// Adds the warps of a block. `races`: the search for races in the block; null: none.
  void add(std::vector<InterpretedWarp>& warps, SharedRaces* races) {
    blocks_.push_back({&warps, races, std::vector<Lanes>(warps.size())});
  }

  /// Returns the lanes, among those of warp `w` in the block with this rank, that have arrived and
  /// not waited since.
  std::uint32_t arrived(std::uint32_t rank, std::uint32_t w, std::uint32_t lanes) const {
    const Lanes& those = blocks_[rank].lanes[w];
    return lanes & (those.arrived | those.passed);
  }
  /// Lets lanes arrive that have not arrived yet.
  void arrive(std::uint32_t rank, std::uint32_t w, std::uint32_t lanes);
  /// Returns the lanes, among those that have arrived, that need not wait any more.
  std::uint32_t pass(std::uint32_t rank, std::uint32_t w, std::uint32_t lanes);
  /// Lets arrived lanes, all of the warp's current path, wait for the others.
  void wait(std::uint32_t rank, std::uint32_t w, std::uint32_t lanes);
  /// Completes a phase that waited only for lanes that have ended.
  void complete();

  /// Calls function(rank, warp, lanes) for lanes that are missing where others have arrived.
  template <class Function>
  void for_each_missing(Function&& function) const {
    for (std::uint32_t rank = 0; rank < blocks_.size(); ++rank)
      for (std::uint32_t w = 0; w < blocks_[rank].lanes.size(); ++w)
        if (const std::uint32_t lanes = missing(blocks_[rank], w)) function(rank, w, lanes);
  }
  /// Returns how many threads wait.
  std::uint32_t waiting() const;

 private:
  struct Lanes {
    std::uint32_t arrived = 0;  ///< lanes that have arrived in this phase
    std::uint32_t passed = 0;  ///< lanes that arrived in the phase before and have not waited since
    std::uint32_t waiting = 0;  ///< arrived lanes that wait
  };
  struct Block {
    std::vector<InterpretedWarp>* warps;
    SharedRaces* races;
    std::vector<Lanes> lanes;  ///< lanes of each warp
  };
  /// Number of this barrier in the search for races, behind those of the block.
  static constexpr unsigned number = SharedRaces::barrier_of_cluster;

  static std::uint32_t missing(const Block& block, std::uint32_t w) {
    return (*block.warps)[w].paths.alive() & ~block.lanes[w].arrived;
  }
  void release();

  std::vector<Block> blocks_;  ///< blocks by their rank
  bool is_used_ = false;       ///< true: a thread has arrived in this phase
};

}  // namespace lockstep::isa
