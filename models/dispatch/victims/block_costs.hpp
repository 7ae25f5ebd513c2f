/// What it costs to take a thread block's place by each technique, and which is worth it.
///
/// - flush: no time; all that the block has executed is lost.
/// - save: its context over the SM's share of the memory bandwidth; the instructions that the block
///   would have executed during a save and a restore.
/// - drain: the instructions that blocks of its kernel have in the mean and it has not executed,
///   times the cycles per instruction.
/// What is not known - no block of the kernel is done, this one has executed nothing - is never
/// chosen.  Under stall-on-fault a block that waits for a page waits for it first, whichever it is.
/// The source has no wait for what is in flight in a switch, and blocks that leave together have
/// its whole bandwidth each; SwitchEstimate::measured knows what they took.
/// Source: 003, section 3.3.2, Algorithm 1 lines 2 to 9; preemption.md, sections 7.2 and 7.3.
#pragma once

#include <cstdint>

#include "models/dispatch/victims/preemption_machine.hpp"
#include "models/dispatch/victims/sm_release.hpp"

namespace lockstep {

struct BlockCost {
  Time latency = Time::never();  ///< never: it is not to be chosen
  std::uint64_t overhead = 0;    ///< warp instructions
  bool own_pace = false;         ///< it was predicted by the block's own cycles per instruction

  bool possible() const { return latency != Time::never(); }
};

/// How the cycles per instruction of a block's rest are predicted.
enum class CpiPrediction : std::uint8_t {
  finished,  ///< the mean of its kernel's finished blocks
  steadier,  ///< its own, if running blocks differ less from each other than finished ones
};

/// How long a switch is expected to take.
enum class SwitchEstimate : std::uint8_t {
  share,     ///< the context over the SM's share of the bandwidth
  measured,  ///< the mean of those of its kernel, once there was one
};

/// What becomes of a block that has executed as much as finished ones in the mean.
enum class BeyondMean : std::uint8_t {
  done,     ///< it is about to end
  unknown,  ///< it is one of the long ones: nobody knows
};

BlockCost flush_cost(const BlockStatus& block, const PreemptionMachine& machine);
BlockCost save_cost(const BlockStatus& block, const VictimKernel& kernel,
                    const PreemptionMachine& machine,
                    SwitchEstimate estimate = SwitchEstimate::share);
BlockCost drain_cost(const BlockStatus& block, const VictimKernel& kernel,
                     const PreemptionMachine& machine, CpiPrediction prediction,
                     BeyondMean beyond_mean = BeyondMean::done);
/// Its rest, if it is known how long it runs undisturbed.
BlockCost known_drain_cost(const BlockStatus& block, const VictimKernel& kernel,
                           const PreemptionMachine& machine);

/// Of what is possible within the bound, what loses least; else the fastest of what is possible.
/// If nothing is known: a flush if that is allowed, else a save.
SmRelease::Block cheapest(const BlockStatus& block, BlockCost flush, BlockCost save,
                          BlockCost drain, Time bound);

}  // namespace lockstep
