/// Costs of taking a thread block's place by each technique, and the choice of the technique.
///
/// - flush: no time; all that the block has executed is lost.
/// - save: its context over the SM's share of the memory bandwidth; the instructions that the block
/// would have executed during a save and a restore.
/// - drain: the instructions that blocks of its kernel have and it has not executed, times the
/// cycles per instruction.  How many blocks of its kernel have is their mean, or follows from those
/// that are as long as the block already is (block_lengths.hpp).
/// A technique whose cost is not known - no block of the kernel is done, this one has executed
/// nothing - is never chosen.  Under stall-on-fault a block that waits for a page waits for it
/// first, whichever the technique.  The source has no wait for what is in flight in a switch, and
/// gives each of the blocks that leave together the whole bandwidth; SwitchEstimate::measured knows
/// how long they took.
/// Source: 003, section 3.3.2, Algorithm 1 lines 2 to 9; preemption.md, sections 7.2 and 7.3.
#pragma once

#include <cstdint>

#include "models/dispatch/victims/preemption_machine.hpp"
#include "models/dispatch/victims/sm_release.hpp"

namespace lockstep {

struct BlockCost {
  Time latency = Time::never();  ///< expected latency; never: the technique must not be chosen
  std::uint64_t overhead = 0;    ///< warp instructions lost
  bool own_pace = false;  ///< true: the block's own cycles per instruction predicted the latency

  bool possible() const { return latency != Time::never(); }
};

/// Prediction of the cycles per instruction of a block's rest.
enum class CpiPrediction : std::uint8_t {
  finished,  ///< mean of the kernel's finished blocks
  /// The block's own pace, if running blocks differ less from each other than finished ones.
  steadier,
};

/// Estimate of the time that a switch takes.
enum class SwitchEstimate : std::uint8_t {
  share,     ///< context divided by the SM's share of the bandwidth
  measured,  ///< mean of the kernel's switches, once there was one
};

/// Expectation for a block that has already executed as much as the mean of finished ones.
enum class BeyondMean : std::uint8_t {
  done,     ///< the block is about to end
  unknown,  ///< the block is one of the long ones, and its rest is not known
};

/// Estimate of the instructions that a block has in all.
enum class DrainEstimate : std::uint8_t {
  mean,      ///< mean of the kernel's finished blocks
  quantile,  ///< quantile of the finished blocks that are at least as long as the block already is
};

/// Way of estimating how long a block drains.
struct DrainPrediction {
  CpiPrediction pace = CpiPrediction::finished;
  DrainEstimate length = DrainEstimate::mean;
  BeyondMean beyond_mean = BeyondMean::done;  ///< only with DrainEstimate::mean
  std::uint32_t percent = 50;                 ///< the quantile, only with DrainEstimate::quantile
};

BlockCost flush_cost(const BlockStatus& block, const PreemptionMachine& machine);
BlockCost save_cost(const BlockStatus& block, const VictimKernel& kernel,
                    const PreemptionMachine& machine,
                    SwitchEstimate estimate = SwitchEstimate::share);
BlockCost drain_cost(const BlockStatus& block, const VictimKernel& kernel,
                     const PreemptionMachine& machine, const DrainPrediction& prediction);
/// Returns the cost of the block's rest, if its undisturbed duration is known.
BlockCost known_drain_cost(const BlockStatus& block, const VictimKernel& kernel,
                           const PreemptionMachine& machine);

/// Returns the technique with the least loss among those within the bound; otherwise the fastest
/// one.  With nothing known, it returns a flush if that is allowed, else a save.
SmRelease::Block cheapest(const BlockStatus& block, BlockCost flush, BlockCost save,
                          BlockCost drain, Time bound);

}  // namespace lockstep
