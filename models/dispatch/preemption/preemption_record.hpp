#pragma once

#include "core/time/time.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// A thread block that made room for a more urgent grid.
struct PreemptionRecord {
  PreemptionRecord() = default;
  PreemptionRecord(const BlockReference& which, Technique what, Time when)
      : block(which), technique(what), released(when), stopped(when) {}

  std::uint32_t urgent = 0;  ///< the grid that asked; the block's own: no grid asked, it was a
                             ///< signal
  BlockReference block;
  Technique technique = Technique::drain;  ///< how the block left
  Time asked, released;                    ///< released: the block's place was free
  Time stopped;                            ///< no access of the block was in flight; else released
  Time returned = Time::never();           ///< when it had a place again; never: it does not return
  Time expected = Time::never();           ///< time to leave expected at the decision; never: none
  Time bound = Time::never();              ///< bound of the urgent tenant; never: none
  std::uint64_t expected_loss = 0;         ///< warp instructions, at the decision
  BlockStatus before;                      ///< state at the decision, if SMs were asked
  bool own_pace = false;                   ///< the estimate went by its own cycles per instruction
  std::uint64_t lost = 0;                  ///< warp instructions of a flushed block
  std::uint64_t bytes = 0;                 ///< bytes of a saved block's context
  ContextParts parts;                      ///< parts of that context

  template <class Archive>
  void serialize(Archive& archive) {
    archive(urgent, block, technique, asked, released, stopped, returned, expected, bound,
            expected_loss, before, own_pace, lost, bytes, parts);
  }
};

}  // namespace lockstep
