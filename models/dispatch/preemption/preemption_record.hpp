#pragma once

#include "core/time/time.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// A thread block that made room for a more urgent grid.
struct PreemptionRecord {
  PreemptionRecord() = default;
  PreemptionRecord(const BlockReference& which, Technique what, Time when)
      : block(which), technique(what), released(when) {}

  std::uint32_t urgent = 0;  ///< the grid that asked; the block's own: nobody, it was a signal
  BlockReference block;
  Technique technique = Technique::drain;  ///< what it did
  Time asked, released;                    ///< released: its place was free
  Time expected = Time::never();           ///< until then, at the decision; never: nothing was
  Time bound = Time::never();              ///< of the urgent tenant; never: none
  std::uint64_t expected_loss = 0;         ///< warp instructions, at the decision
  std::uint64_t executed = 0;              ///< warp instructions before the decision
  std::uint64_t lost = 0;                  ///< warp instructions of a flushed block
  std::uint64_t bytes = 0;                 ///< of a saved block's context

  template <class Archive>
  void serialize(Archive& archive) {
    archive(urgent, block, technique, asked, released, expected, bound, expected_loss, executed,
            lost, bytes);
  }
};

}  // namespace lockstep
