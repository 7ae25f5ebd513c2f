/// Constant and parameter memory: lanes that use the same word are served together.
///
/// Source: architecture.md, section 8, rule 11; gpu-parameters.md, section 7.
///
/// Cost model: a constant latency, one more cycle for each further word, and the time of the
/// constant caches if there are any (fetch/constant_cache.hpp).  With `constant_interval` the loads
/// of an SM pass its one port one after the other, and each word takes that many cycles there.
/// Constants that are operands of other instructions do not use the port.
///
/// Simplified: any number of loads may wait for the port.
#pragma once

#include <cstdint>

#include "core/checkpoint/archive.hpp"
#include "models/sm/access/coalescer.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/fetch/constant_cache.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class ConstantMemory {
 public:
  ConstantMemory(const SmContext& sm, FrontEnd& front_end, ConstantCache& cache)
      : interval_(sm.constants.parameters.constant_interval),
        blocks_(sm.blocks),
        mistakes_(sm.mistakes),
        front_end_(front_end),
        cache_(cache) {}

  /// `commits`: the destinations wait only for this.
  void issue(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
             std::uint32_t active, const LaneAddresses& address, bool commits, SmCycle now);

  void serialize(Archive& archive) {
    archive.section("sm/constant_memory", 1);
    archive(port_free_);
  }

 private:
  /// Returns the cycle from which a load of `words` words can be used if it hits every cache.
  SmCycle usable_at(unsigned words, unsigned latency, SmCycle now);

  const Cycles interval_;  ///< interval of a word at the port; 0: there is no port
  SmCycle port_free_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  ConstantCache& cache_;
};

}  // namespace lockstep
