/// MeDiC, memory divergence correction: warps are classed by how often they hit in the L2, and the
/// L2 favours warps whose instructions it can serve as a whole.
///
/// An SM knows the type of each of its warps (WarpTypes) and marks requests with it.  A partition
/// (medic.cpp) lets requests of mostly-missing warps bypass the L2, and keeps lines of hitting
/// warps longer than others.  The coordinator (ThresholdController) lowers the hit share below
/// which a warp counts as mostly missing when the miss rate rises, so that bypasses do not flood
/// the DRAM.
/// Source: 004, sections 4.2 and 4.3; memory-interference.md, section 3.3.
#pragma once

#include <memory>

#include "core/parameters/parameters.hpp"
#include "models/coordinator/epoch_controller.hpp"
#include "models/coordinator/sm_side.hpp"
#include "models/memory/cache_policy/walk_levels.hpp"

namespace lockstep {

enum class WarpType : std::uint8_t { mostly_miss, balanced, mostly_hit, all_hit };

/// Effect of the type of the warp that asked for a line.
enum class MedicInsertion : std::uint8_t { classes, stack };

/// Verdict on a lookup whose sectors are already on their way for an earlier request.
enum class MedicArriving : std::uint8_t { miss, hit };

/// Kinds of requests by which a warp is judged.
enum class MedicJudged : std::uint8_t { all, loads };

/// How lines of a warp come in while it is profiled.
enum class MedicProfiling : std::uint8_t { kept, balanced, plain };

/// Mark beside those of RequestMark, for MeDiC's two sides alone: the line comes in as without
/// insertion.
inline constexpr unsigned mark_plain = 64;

struct MedicParameters {
  bool bypass = true, insertion = true, reuse = false, walks = false, grids = false;
  bool bypasses_miss = false;
  WalkLevelParameters walk_levels;
  Cycles resample;
  MedicInsertion order = MedicInsertion::classes;
  MedicArriving arriving = MedicArriving::miss;
  MedicJudged judged_by = MedicJudged::all;
  MedicProfiling while_profiled = MedicProfiling::kept;
  std::uint32_t profile = 0, mostly_miss = 0, mostly_hit = 0, threshold_step = 0, miss_step = 0;

  static auto schema() {
    using namespace literals;
    using P = MedicParameters;
    return parameters<P>()
        .field("bypass", &P::bypass, true, "requests of mostly-missing warps go past the L2")
        .field("insertion", &P::insertion, true, "lines of warps that hit are evicted last")
        .field("order", &P::order, MedicInsertion::classes, choice({"classes", "stack"}),
               "which line leaves: one of the lowest class, used or not; or the end of a stack "
               "into which a line comes as the most recently used of its set, in the middle, or as "
               "the next to go (004, section 4.3.3, says both)")
        .field("reuse", &P::reuse, false,
               "a line that was evicted not long ago is looked up all the same (MeDiC-reuse)")
        .field("walks", &P::walks, false,
               "levels of page walks that hit less often than data go past the L2 as well: MASK's "
               "bypass (004, section 6.4.3)")
        .group("walk_levels", &P::walk_levels,
               "how levels of walks that hit less often than data are found")
        .field("resample", &P::resample, 100'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "L2 cycles after which warps are profiled anew")
        .field("grids", &P::grids, false,
               "warps are profiled anew when a grid begins, too: warps of another kernel are other "
               "warps")
        .field("judged_by", &P::judged_by, MedicJudged::all, choice({"all", "loads"}),
               "lookups by which a warp is judged: all of them, or only loads, for which it waits")
        .field("profile", &P::profile, 30, range(1, 511),
               "number of lookups by which a warp is judged", "requests")
        .field("while_profiled", &P::while_profiled, MedicProfiling::kept,
               choice({"kept", "balanced", "plain"}),
               "how lines of a warp are inserted while it is profiled: by its type in the period "
               "before, as a balanced warp's, or as without insertion")
        .field("arriving", &P::arriving, MedicArriving::miss, choice({"miss", "hit"}),
               "whether a lookup counts as a hit or a miss if its sectors are there or on their "
               "way for an earlier request; a request past the L2 would have read them again")
        .field("mostly_miss", &P::mostly_miss, 20, range(0, 99),
               "share of hits up to which a warp mostly misses; the highest threshold", "%")
        .field("mostly_hit", &P::mostly_hit, 70, range(1, 100),
               "share of hits from which on a warp mostly hits", "%")
        .field("threshold_step", &P::threshold_step, 5, range(0, 100),
               "step by which the threshold falls for each miss_step; 0: it stays", "%")
        .field("bypasses_miss", &P::bypasses_miss, false,
               "requests past the L2 are misses in the miss rate that lowers the threshold; "
               "otherwise bypasses lower that rate themselves")
        .field("miss_step", &P::miss_step, 5, range(1, 100),
               "rise of the miss rate since the first period that lowers the threshold", "%")
        .only_if("order while_profiled", "with insertion: true",
                 [](const P& p) { return p.insertion; })
        .only_if("walk_levels", "with walks: true", [](const P& p) { return p.walks; })
        .check([](const P& p) -> std::string {
          if (p.mostly_miss >= p.mostly_hit)
            return "mostly_miss is not below mostly_hit - lower mostly_miss or raise mostly_hit";
          if (p.reuse && !p.bypass)
            return "reuse takes back bypasses, and bypass is false - set bypass to true";
          return "";
        });
  }
};

/// Returns whether a lookup counts as a hit: of its `sectors`, the L2 had `hits`, and `arriving`
/// were on their way.
inline bool is_medic_hit(MedicArriving counted, unsigned sectors, unsigned hits,
                         unsigned arriving) {
  return (counted == MedicArriving::hit ? hits | arriving : hits) == sectors;
}

std::unique_ptr<SmSide> make_warp_types(const SmSideSetup& setup);
const StatisticsSchema& warp_type_statistics();
std::unique_ptr<EpochController> make_medic_threshold(const EpochControllerSetup& setup);

}  // namespace lockstep
