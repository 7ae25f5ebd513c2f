/// Constant and parameter memory: lanes that use the same word are served together.
///
/// Source: architecture.md, section 8, rule 11; gpu-parameters.md, section 7.
///
/// Simplified: always hits.
/// Cost model: a constant latency, and a cycle more for each further word.
#pragma once

#include <cstdint>

#include "models/sm/access/coalescer.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/front_end/front_end.hpp"

namespace lockstep {

class ConstantMemory {
 public:
  ConstantMemory(ResidentBlocks& blocks, Mistakes& mistakes, FrontEnd& front_end)
      : blocks_(blocks), mistakes_(mistakes), front_end_(front_end) {}

  /// `commits`: the destinations wait only for this.
  void issue(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
             std::uint32_t active, const LaneAddresses& address, bool commits, SmCycle now);

 private:
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
};

}  // namespace lockstep
