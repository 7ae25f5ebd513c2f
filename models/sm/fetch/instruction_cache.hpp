/// Instruction caches: one for each sub-core (L0), one for the SM behind them, and L2.
///
/// A launch brings the kernel's lines into the cache of the SM just before its first block there. A
/// warp's instruction buffer holds the line that it executes; the warp looks into the caches when
/// it comes to another line.  When L0 lacks a line, it brings the following lines too, and further
/// ones as these are used (a stream buffer).  A warp whose line is not there does not issue.
/// Source: Jia et al. 2018 (12 KiB, 128 KiB and L2 on Volta, 16 bytes an instruction); Huerta et
/// al. 2025 (a stream buffer of 8 lines before L0); NVIDIA's open-gpu-doc (PROGRAM_PREFETCH_SIZE of
/// launch descriptors: up to 128 KiB).
///
/// Simplified: an operation that hardware expands is fetched with the first of its instructions;
/// lines that are brought ahead stand in L0 itself; no ports, any number of outstanding lines.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/fetch/read_only_tags.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/load_store/fetch_answers.hpp"
#include "models/sm/parameters/code_region.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

class InstructionCache final : public FetchAnswers {
 public:
  InstructionCache(const SmContext& sm, FrontEnd& front_end);

  /// A grid's first block is about to come.
  void prefetch(const GridSlot& grid, SmCycle now);
  /// Returns whether the caches are modelled; false: every fetch hits.
  bool on() const { return !l0_.empty(); }
  /// Returns whether the warp may issue an instruction of this line now. If not, the warp is told
  /// when the line is there.
  bool has(WarpSlot slot, std::uint32_t line, SmCycle now) {
    return line == buffered_[slot.value()] || fetch(slot, line, now);
  }
  /// Takes an answer of L2.
  void answered(const MemoryResponse& response, SmCycle usable, SmCycle now) override;

  void serialize(Archive& archive);

 private:
  /// A line on its way into a warp's instruction buffer.  The buffer gets the line even if L0 has
  /// dropped it by then, so that each warp goes on however many warps share few lines.
  struct Coming {
    std::uint32_t line = ReadOnlyTags::none;
    SmCycle ready;

    template <class A>
    void serialize(A& archive) {
      archive(line, ready);
    }
  };
  /// A line that was asked of L2.
  struct Request {
    std::uint32_t line = 0;
    /// Sub-cores that get the line; sub-cores in which no warp waits for it.
    std::uint8_t sub_cores = 0, ahead = 0;
    std::uint64_t warps = 0;  ///< mask of warps that wait for the line

    template <class A>
    void serialize(A& archive) {
      archive(line, sub_cores, ahead, warps);
    }
  };
  bool fetch(WarpSlot slot, std::uint32_t line, SmCycle now);
  /// Brings the line into this sub-core's L0, unless it is there or on its way.
  void bring(std::uint32_t line, unsigned sub_core, bool ahead, const Warp& warp, SmCycle now);
  /// Tells the warp the cycle in which its line is there.
  void tell(WarpSlot slot, std::uint32_t line, SmCycle ready);
  Request* request_of(std::uint32_t line);
  void ask(std::uint32_t line, std::uint16_t tenant, SmCycle now);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  FrontEnd& front_end_;
  std::vector<ReadOnlyTags> l0_;  ///< tags of each sub-core
  ReadOnlyTags l1_;
  std::vector<std::uint32_t> buffered_;  ///< line of each warp slot
  std::vector<Coming> coming_;           ///< line on its way to each warp slot
  std::vector<Request> requests_;
};

}  // namespace lockstep
