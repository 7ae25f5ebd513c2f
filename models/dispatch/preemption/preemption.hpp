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

#include "core/parameters/policy.hpp"
#include "models/dispatch/victims/preemption_machine.hpp"
#include "models/dispatch/victims/sm_release.hpp"
#include "models/sm/parameters/context_kind.hpp"
#include "models/sm/parameters/context_traffic.hpp"
#include "models/sm/parameters/idempotence_check.hpp"
#include "models/sm/parameters/sm_places.hpp"

namespace lockstep {

/// How blocks are saved.
struct Saving {
  ContextKind context = ContextKind::occupied;
  StopPlaces stops = StopPlaces::any;
  ContextTraffic traffic = ContextTraffic::real;
};

class Preemption {
 public:
  struct Needs {
    bool preempts = true;
    bool saves = false;    ///< contexts may go to memory
    bool follows = false;  ///< blocks' work and idempotence are followed; they may be flushed
    bool asks = false;     ///< decide() wants the status of SMs
    bool shares = false;   ///< the urgent grid's blocks come as places get free, beside the others
    bool by_rounds = false;  ///< of each SM it asks for a place only when it has got the last one
    bool gives_up = false;   ///< an SM goes back if what drains there may wait for what was flushed
    bool in_place = false;   ///< saved blocks keep on chip what is in nobody's way
    bool by_profile = false;  ///< decide() wants to know how long blocks run undisturbed
    IdempotenceCheck idempotence = IdempotenceCheck::marks;  ///< of blocks that are followed
  };
  virtual ~Preemption() = default;
  virtual Needs needs() const { return {}; }
  /// Of blocks that decide() has not seen.
  virtual Technique others() const { return Technique::drain; }
  /// What it would cost to take the SM within `bound`.
  virtual SmRelease decide(const SmStatus& /*sm*/, const VictimKernel& /*kernel*/,
                           const PreemptionMachine& /*machine*/, Time /*bound*/) const {
    return {};
  }
  /// By whose finished blocks it estimates drains, if it does.
  virtual HistoryScope history() const { return HistoryScope::kernel; }
  /// How long blocks may drain before they are saved; zero: ten times what was expected.
  virtual Time drain_limit() const { return Time::zero(); }
  /// If contexts go to memory: what they hold, and where warps stop for that.
  virtual Saving saving() const { return {}; }
  /// Cycles of an SM after which the next one makes room though nobody wants it; 0: never.
  virtual Cycles signal() const { return Cycles{0}; }
  /// Which places blocks have where the machine has sums only.
  virtual Placement placement() const { return Placement::summed; }
};

using MakePreemption = std::unique_ptr<Preemption> (*)(const PolicyChoice&);
using PreemptionRow = PolicyRegistry<MakePreemption>::Row;

/// Key `policies.preemption`.
const PolicyList& preemption_policies();
std::unique_ptr<Preemption> make_preemption(const PolicyChoice& choice);
Preemption::Needs needs_of_preemption(const PolicyChoice& choice);
/// The places that blocks have with the policy; `in_parts`: Sharing::in_parts; `machine`:
/// gpu.sm.placement.
Placement placement_for(const PolicyChoice& choice, bool in_parts, Placement machine);
/// How the policy saves blocks; meaningful if it does.
Saving saving_of(const PolicyChoice& choice);

}  // namespace lockstep
