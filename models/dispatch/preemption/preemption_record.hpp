#pragma once

#include "core/time/time.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// A thread block that made room for a more urgent grid.
struct PreemptionRecord {
  PreemptionRecord() = default;
  PreemptionRecord(const BlockReference& which, Technique what, Time when)
      : block(which), technique(what), released(when), stopped(when) {}

  std::uint32_t urgent = 0;  ///< grid that asked; the block's own grid: a signal asked
  BlockReference block;
  Technique technique = Technique::drain;  ///< technique by which the block left
  Time asked, released;                    ///< released: the block's place was free
  Time stopped;  ///< time from which no access of the block was in flight; else equal to released
  /// Time at which the block had a place again; never: it does not return.
  Time returned = Time::never();
  Time expected = Time::never();    ///< expected time to leave, at the decision; never: none
  Time bound = Time::never();       ///< bound of the urgent tenant; never: none
  std::uint64_t expected_loss = 0;  ///< warp instructions expected to be lost, at the decision
  BlockStatus before;               ///< state at the decision, if SMs were asked
  bool own_pace = false;    ///< true: the estimate used the block's own cycles per instruction
  std::uint64_t lost = 0;   ///< warp instructions lost by flushing
  std::uint64_t bytes = 0;  ///< bytes of the saved context
  ContextParts parts;       ///< parts of the context

  template <class Archive>
  void serialize(Archive& archive) {
    archive(urgent, block, technique, asked, released, stopped, returned, expected, bound,
            expected_loss, before, own_pace, lost, bytes, parts);
  }
};

}  // namespace lockstep
