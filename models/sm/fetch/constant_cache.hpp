/// Constant caches: one close to the sub-cores, one behind it, and L2.
///
/// A load from constant or parameter memory waits for the lines that it needs.  Constants that are
/// operands of other instructions are taken as present.  No warp of a grid issues before the grid's
/// parameters are in the SM.  The SM requests them from L2 just before the first block, because a
/// launch makes their bank invalid (CONSTANT_BUFFER_INVALIDATE of launch descriptors, NVIDIA's
/// open-gpu-doc).
/// Source: Jia et al. 2018 (2 KiB and 64 KiB on Volta, lines of 64 bytes); Huerta et al. 2025 (79
/// cycles for what the first level lacks).
///
/// Simplified: all lines of parameters are asked for at once; no ports.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sm/fetch/read_only_tags.hpp"
#include "models/sm/load_store/fetch_answers.hpp"
#include "models/sm/load_store/flights.hpp"
#include "models/sm/parameters/code_region.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

class ConstantCache final : public FetchAnswers {
 public:
  ConstantCache(const SmContext& sm, FrontEnd& front_end, Flights& flights);

  /// Returns whether the cache is modelled; false: every load hits.
  bool on() const { return constants_.parameters.constant_cache.on(); }
  /// A grid's first block is about to come.
  void prefetch(const GridSlot& grid, SmCycle now);
  /// Returns whether the SM has the parameters of the warp's grid; if not, the warp is told when
  /// they come.
  bool has_parameters(WarpSlot slot, const GridSlot& grid, SmCycle now) {
    return grid.parameters_ready <= now || wait_for_parameters(slot, grid);
  }
  /// Makes the warp's instruction, whose registers already have their values, wait for these lines,
  /// each named once.  `usable`: cycle in which its result could be used if all lines were here.
  void load(WarpSlot slot, const IssueRecord& record, std::span<const std::uint32_t> lines,
            SmCycle usable, SmCycle now);
  /// Takes an answer of L2.
  void answered(const MemoryResponse& response, SmCycle usable, SmCycle now) override;

  void serialize(Archive& archive);

 private:
  static constexpr std::uint16_t no_bank = 0xffff;

  /// A load that waits for a line.
  struct Waiter {
    std::uint32_t line = 0;
    std::uint16_t flight = Flights::none;

    template <class A>
    void serialize(A& archive) {
      archive(line, flight);
    }
  };
  /// Parameters on their way.
  struct Bank {
    std::uint32_t grid = 0;
    std::uint32_t missing = 0;  ///< missing lines
    std::uint64_t warps = 0;    ///< mask of warps that wait for the parameters

    std::uint16_t index() const { return static_cast<std::uint16_t>(grid & 0x7fff); }

    template <class A>
    void serialize(A& archive) {
      archive(grid, missing, warps);
    }
  };
  bool wait_for_parameters(WarpSlot slot, const GridSlot& grid);
  /// `index`: index of the tag.
  void ask(std::uint32_t line, std::uint16_t tenant, std::uint16_t index, SmCycle now);
  void bank_came(const Bank& bank, SmCycle usable);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  FrontEnd& front_end_;
  Flights& flights_;
  ReadOnlyTags l0_, l1_;
  std::vector<std::uint32_t> asked_;
  std::vector<Waiter> waiters_;
  std::vector<Bank> banks_;
};

}  // namespace lockstep
