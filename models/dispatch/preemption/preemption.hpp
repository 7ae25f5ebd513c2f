/// Plug point `preemption`: what becomes of the blocks of a less urgent grid on an SM that a more
/// urgent one is to have.
///
/// The dispatcher decides that SMs are taken, and when they go back (preempting_dispatch.cpp).  A
/// policy, in a file each, says what their blocks do: with the status of all of them at one time
/// before it, if it asks for that.
/// Source: 002, section II; 003, sections 3.3 and 4.1; preemption.md, sections 2 and 7.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/parameters/policy.hpp"
#include "models/dispatch/victims/preemption_machine.hpp"
#include "models/dispatch/victims/sm_release.hpp"
#include "models/dispatch/victims/victim_selection.hpp"
#include "models/sm/parameters/context_kind.hpp"
#include "models/sm/parameters/context_traffic.hpp"
#include "models/sm/parameters/idempotence_check.hpp"
#include "models/sm/parameters/sm_places.hpp"

namespace lockstep {

/// Ways in which blocks are saved.
struct Saving {
  ContextKind context = ContextKind::occupied;
  StopPlaces stops = StopPlaces::any;
  ContextTraffic traffic = ContextTraffic::real;
};

/// Steps of a technique, each with the values that the dispatcher and the SM need to carry it out.
/// An absent step is not taken and costs nothing.
struct PreemptionSteps {
  /// SMs are taken from less urgent grids.
  struct Take {
    /// Technique of blocks that decide() has not seen.
    Technique others = Technique::drain;
    /// Time for which blocks may drain before they leave by other means; zero: ten times the bound
    /// of the urgent grid, or the expected time if that is longer; 1 ms without a bound.
    Time drain_limit{};
    /// SM cycles between two signals, at which an SM makes room although no grid wants it; 0:
    /// never.
    Cycles signal{0};
  };
  /// decide() has the status of all blocks of the SMs in question.
  struct Ask {
    /// Scope of the finished blocks that tell how long others run.
    HistoryScope history = HistoryScope::kernel;
    bool by_lengths = false;  ///< decide() needs the lengths of the finished blocks
    bool by_plan = false;     ///< decide() needs a plan of techniques
    bool by_profile = false;  ///< decide() needs the time that blocks run undisturbed
  };
  /// The urgent grid's blocks come one by one as places become free, beside blocks of other grids.
  struct Share {
    /// Rounds of selection: an SM is asked for all places at once, or for one place after the
    /// other.
    SelectionRounds rounds = SelectionRounds::burst;
  };
  /// Blocks may be flushed, so SMs record what makes a block impossible to repeat.
  struct Flush {
    IdempotenceCheck idempotence = IdempotenceCheck::marks;
    bool gives_up = false;  ///< an SM goes back if draining blocks may wait for flushed ones
  };
  /// Contexts may go to memory.
  struct Save : Saving {
    bool in_place = false;  ///< blocks keep the on-chip resources that no arriving block needs
  };

  std::optional<Take> take = std::nullopt;
  std::optional<Ask> ask = std::nullopt;
  std::optional<Share> share = std::nullopt;
  std::optional<Flush> flush = std::nullopt;
  std::optional<Save> save = std::nullopt;
  /// Placement of blocks where the machine has sums only.
  Placement placement = Placement::summed;

  bool leaves_in_place() const { return save && save->in_place; }
  bool by_rounds() const { return share && share->rounds == SelectionRounds::serial; }
  bool gives_up() const { return flush && flush->gives_up; }
};

class Preemption {
 public:
  virtual ~Preemption() = default;
  virtual PreemptionSteps steps() const = 0;
  /// Returns the cost of taking the SM within `bound`. The dispatcher calls this if the step `ask`
  /// is present.
  virtual SmRelease decide(const SmStatus& /*sm*/, const VictimKernel& /*kernel*/,
                           const PreemptionMachine& /*machine*/, Time /*bound*/) const {
    return {};
  }
};

using MakePreemption = std::unique_ptr<Preemption> (*)(const PolicyChoice&);
using PreemptionRow = PolicyRegistry<MakePreemption>::Row;

/// Returns the key `policies.preemption`.
const PolicyList& preemption_policies();
std::unique_ptr<Preemption> make_preemption(const PolicyChoice& choice);
PreemptionSteps steps_of(const PolicyChoice& choice);
/// Returns the placement of blocks with the policy; `in_parts`: Sharing::in_parts; `machine`:
/// gpu.sm.placement.
Placement placement_for(const PolicyChoice& choice, bool in_parts, Placement machine);

}  // namespace lockstep
