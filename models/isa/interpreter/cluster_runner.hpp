/// Cluster of interpreted thread blocks; a block without a cluster is a cluster of one.
///
/// Blocks run in turns, ranks ascending, and see each other's shared memory.  A block without a
/// runnable warp waits for the others.  When all blocks wait, lanes that wait within a warp first
/// go on alone, then waits for phases of mbarriers end; otherwise it is a deadlock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/interpreter/cluster_barrier.hpp"

namespace lockstep::isa {

class ClusterRunner {
 public:
  /// `number`: among the clusters of the grid, x fastest.
  ClusterRunner(LaunchState& state, std::uint64_t number);

  /// Executes at most about `instructions` warp instructions; true when all threads have ended.
  bool run(std::uint64_t instructions);
  /// Returns whether warps have register contents that they did not have recently.
  bool gets_on();
  /// Throws UserError with the positions of a launch without progress.
  [[noreturn]] void report_spin(std::uint64_t instructions) const;

  std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }
  BlockRunner& block(std::uint32_t rank) { return *blocks_[rank]; }
  ClusterBarrier& barrier() { return barrier_; }

 private:
  /// Lets some lanes go on, because no block can run.
  void go_on();
  [[noreturn]] void report_deadlock() const;
  /// Returns "; 64 threads of the cluster have not arrived: block (1, 0, 0), warp 0 stands at line
  /// 12", or "" if no warp waits at the barrier of the cluster.
  std::string missing_text() const;

  LaunchState& state_;
  ClusterBarrier barrier_;
  std::vector<std::unique_ptr<BlockRunner>> blocks_;  ///< blocks by their rank
};

}  // namespace lockstep::isa
