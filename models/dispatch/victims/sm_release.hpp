/// What is known of an SM's blocks before they make room, and what they are to do.
/// Source: 003, section 3.3; preemption.md, section 7.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "models/dispatch/victims/block_profile.hpp"
#include "models/dispatch/victims/kernel_history.hpp"
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

/// What is known of a grid that SMs may be taken from.
struct VictimKernel {
  const KernelHistory* finished = nullptr;  ///< its blocks that are done, of one HistoryScope
  KernelHistory running;                    ///< those that run, on all SMs
  std::uint64_t context_bytes = 0;          ///< of a block: all, or in the mean of those saved
  /// How long each block of the grid runs if nobody disturbs it; nullptr: nobody knows.
  const BlockProfile::Durations* undisturbed = nullptr;
  std::optional<Time> mean_save{};  ///< what blocks of its kernel took to leave for memory
};

/// What the blocks of an SM do, and what that is expected to cost.
struct SmRelease {
  struct Block {
    BlockCommand command;
    Time latency;                ///< expected, until its place is free
    std::uint64_t overhead = 0;  ///< warp instructions that are lost, expected
    BlockStatus before;          ///< as it was asked
    bool own_pace = false;       ///< it drains, and was expected to go on as fast as until now
    template <class Archive>
    void serialize(Archive& archive) {
      archive(command, latency, overhead, before, own_pace);
    }
  };
  std::vector<Block> blocks;
  Time latency;  ///< until the last is gone
  std::uint64_t overhead = 0;
  std::uint32_t places = 0;  ///< for blocks of the urgent grid, if it is to share the SM
};

/// What is smaller goes first: of what is free within the bound what loses least, else what is free
/// soonest.
inline std::tuple<bool, Time, std::uint64_t> preference(Time latency, std::uint64_t overhead,
                                                        Time bound) {
  const bool late = latency > bound;
  return {late, late ? latency : Time::zero(), overhead};
}

}  // namespace lockstep
