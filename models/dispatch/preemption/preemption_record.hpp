#pragma once

#include "core/time/time.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// A thread block that made room for a more urgent grid.
struct PreemptionRecord {
  PreemptionRecord() = default;
  PreemptionRecord(const BlockReference& which, Technique what, Time when)
      : block(which), technique(what), released(when), stopped(when) {}

  std::uint32_t urgent = 0;  ///< the grid that asked; the block's own: nobody, it was a signal
  BlockReference block;
  Technique technique = Technique::drain;  ///< what it did
  Time asked, released;                    ///< released: its place was free
  Time stopped;                            ///< nothing of it was in flight; else released
  Time returned = Time::never();           ///< it has a place again; never: it does not return
  Time expected = Time::never();           ///< until then, at the decision; never: nothing was
  Time bound = Time::never();              ///< of the urgent tenant; never: none
  std::uint64_t expected_loss = 0;         ///< warp instructions, at the decision
  BlockStatus before;                      ///< at the decision, if SMs were asked
  bool own_pace = false;                   ///< the estimate went by its own cycles per instruction
  std::uint64_t lost = 0;                  ///< warp instructions of a flushed block
  std::uint64_t bytes = 0;                 ///< of a saved block's context
  ContextParts parts;                      ///< of those

  template <class Archive>
  void serialize(Archive& archive) {
    archive(urgent, block, technique, asked, released, stopped, returned, expected, bound,
            expected_loss, before, own_pace, lost, bytes, parts);
  }
};

}  // namespace lockstep
