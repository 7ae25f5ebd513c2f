/// State of an SM's blocks before they make room, and their commands.
/// Source: 003, section 3.3; preemption.md, section 7.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "models/dispatch/victims/block_lengths.hpp"
#include "models/dispatch/victims/block_profile.hpp"
#include "models/dispatch/victims/kernel_history.hpp"
#include "models/dispatch/victims/preemption_plan.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// The blocks of one grid on one SM, all at the same time.
struct SmStatus {
  std::uint32_t sm = 0;
  std::uint32_t grid = 0;
  std::vector<BlockStatus> blocks;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sm, grid, blocks);
  }
};

/// Facts about a grid from which SMs may be taken.
struct VictimKernel {
  /// Finished blocks of the kernel, within a HistoryScope.
  const KernelHistory* finished = nullptr;
  KernelHistory running;            ///< running blocks of the kernel, on all SMs
  std::uint64_t context_bytes = 0;  ///< context bytes of a block: all, or the mean of those saved
  /// Undisturbed duration of each block of the grid; nullptr: unknown.
  const BlockProfile::Durations* undisturbed = nullptr;
  /// Lengths of the finished blocks; nullptr: the policy does not use them.
  const BlockLengths* lengths = nullptr;
  /// Techniques that a plan says; nullptr: there is no plan.
  const PreemptionPlan::Request* plan = nullptr;
  std::optional<Time> mean_save{};  ///< mean time that the kernel's blocks took to leave for memory
};

/// Commands for the blocks of an SM, and their expected costs.
struct SmRelease {
  struct Block {
    BlockCommand command;
    Time latency;                ///< expected time until the block's place is free
    std::uint64_t overhead = 0;  ///< warp instructions expected to be lost
    BlockStatus before;          ///< state when the SM was asked
    bool own_pace = false;       ///< true: the block drains, and was expected to keep its pace
    template <class Archive>
    void serialize(Archive& archive) {
      archive(command, latency, overhead, before, own_pace);
    }
  };
  std::vector<Block> blocks;
  Time latency;  ///< time until the last block is gone
  std::uint64_t overhead = 0;
  std::uint32_t places = 0;  ///< places for blocks of the urgent grid, if it is to share the SM
};

/// Returns the key by which offers are sorted, the smaller first.  Offers within the bound are
/// ordered by loss, then the others by the time at which they are free.
inline std::tuple<bool, Time, std::uint64_t> preference(Time latency, std::uint64_t overhead,
                                                        Time bound) {
  const bool late = latency > bound;
  return {late, late ? latency : Time::zero(), overhead};
}

}  // namespace lockstep
