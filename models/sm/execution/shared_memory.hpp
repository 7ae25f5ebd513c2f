/// Shared memory: 32-bit banks, conflicts, broadcast.
///
/// Lanes that use different words of one bank are served one after the other, and lanes that use
/// the same word together.  64- and 128-bit accesses go by half and quarter warps.  Where returns
/// are packed, they go by whole and half warps if lanes n and n ^ 1, or n and n ^ 2, want the same
/// bytes.  The lanes' pattern decides the cost (lane_pattern.hpp).
/// Source: gpu-parameters.md, sections 3 and 10; CUDA programming guide, "Shared Memory"; packed
/// returns: forums.developer.nvidia.com, 77228 (compute capability 7.0 to 7.5).
///
/// Simplified: an access reads and writes when it issues; the banks only decide when its result can
/// be used.  Atomics to one word are served one lane after the other.
#pragma once

#include <cstdint>

#include "models/sm/access/lane_pattern.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/execution/mbarriers.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class SharedMemoryUnit {
 public:
  SharedMemoryUnit(const SmContext& sm, FrontEnd& front_end, Mbarriers& mbarriers)
      : constants_(sm.constants),
        statistics_(sm.statistics),
        blocks_(sm.blocks),
        mistakes_(sm.mistakes),
        front_end_(front_end),
        mbarriers_(mbarriers),
        gate_(front_end.memory_gate()) {}

  /// Issues an access in which lane l uses address[l] + offset. `commits`: the destinations wait
  /// for this access only.
  void issue(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
             std::uint32_t active, const std::uint32_t* address, std::int64_t offset, bool commits,
             SmCycle now);
  /// Loads one word for each of the 32 lanes: the most frequent case.
  void load_words(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                  SmCycle now);
  /// Issues ldmatrix or stmatrix: lane l has the address of row l % 8 of matrix l / 8.
  void issue_matrices(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                      const LaneAddresses& address, SmCycle now);

 private:
  std::byte* place(const BlockSlot& block, const LanePattern& pattern, std::int64_t base,
                   unsigned bytes);
  void check_matrix_row(const Warp& warp, const BlockSlot& block, unsigned lane,
                        std::uint64_t address) const;
  [[noreturn]] void outside(const Warp& warp, unsigned lane, std::uint64_t address) const;
  SmCycle serve(const Warp& warp, unsigned degree, SmCycle now);
  [[noreturn]] void bad_address(const Warp& warp, const isa::Instruction& instruction,
                                const std::uint32_t* address, std::int64_t offset,
                                std::uint32_t active) const;

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  Mbarriers& mbarriers_;
  MemoryGate& gate_;
};

}  // namespace lockstep
