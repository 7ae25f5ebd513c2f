/// Constant and parameter memory: lanes that use the same word are served together.
///
/// Source: architecture.md, section 8, rule 11; gpu-parameters.md, section 7.
///
/// Cost model: a constant latency, a cycle more for each further word, and what the constant caches
/// take if there are any (fetch/constant_cache.hpp).
#pragma once

#include <cstdint>

#include "models/sm/access/coalescer.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/fetch/constant_cache.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class ConstantMemory {
 public:
  ConstantMemory(const SmContext& sm, FrontEnd& front_end, ConstantCache& cache)
      : blocks_(sm.blocks), mistakes_(sm.mistakes), front_end_(front_end), cache_(cache) {}

  /// `commits`: the destinations wait only for this.
  void issue(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
             std::uint32_t active, const LaneAddresses& address, bool commits, SmCycle now);

 private:
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  ConstantCache& cache_;
};

}  // namespace lockstep
