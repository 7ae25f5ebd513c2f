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
#include <tuple>
#include <vector>

#include "core/parameters/policy.hpp"
#include "models/dispatch/preemption/kernel_history.hpp"
#include "models/dispatch/preemption/preemption_machine.hpp"
#include "models/dispatch/preemption/sm_places.hpp"
#include "models/sm/parameters/context_kind.hpp"
#include "models/sm/parameters/context_traffic.hpp"

namespace lockstep {

/// The blocks of one grid on one SM, all at the same time.
struct SmStatus {
  std::uint32_t sm = 0;
  std::uint32_t grid = 0;
  std::vector<BlockStatus> blocks;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sm, grid, blocks);
  }
};

/// What is known of a grid that SMs may be taken from.
struct VictimKernel {
  const KernelHistory* finished = nullptr;  ///< its blocks that are done
  KernelHistory running;                    ///< those that run, on all SMs
  std::uint64_t context_bytes = 0;          ///< of a block: all, or in the mean of those saved
};

/// What the blocks of an SM do, and what that is expected to cost.
struct SmRelease {
  struct Block {
    BlockCommand command;
    Time latency;                ///< expected, until its place is free
    std::uint64_t overhead = 0;  ///< warp instructions that are lost, expected
    std::uint64_t executed = 0;  ///< warp instructions until now
    template <class Archive>
    void serialize(Archive& archive) {
      archive(command, latency, overhead, executed);
    }
  };
  std::vector<Block> blocks;
  Time latency;  ///< until the last is gone
  std::uint64_t overhead = 0;
  std::uint32_t places = 0;  ///< for blocks of the urgent grid, if it is to share the SM
};

/// How blocks are saved.
struct Saving {
  ContextKind context = ContextKind::occupied;
  StopPlaces stops = StopPlaces::any;
  ContextTraffic traffic = ContextTraffic::real;
};

/// What is smaller goes first: of what is free within the bound what loses least, else what is free
/// soonest.
inline std::tuple<bool, Time, std::uint64_t> preference(Time latency, std::uint64_t overhead,
                                                        Time bound) {
  const bool late = latency > bound;
  return {late, late ? latency : Time::zero(), overhead};
}

class Preemption {
 public:
  struct Needs {
    bool preempts = true;
    bool saves = false;    ///< contexts may go to memory
    bool follows = false;  ///< blocks' work and idempotence are followed; they may be flushed
    bool asks = false;     ///< decide() wants the status of SMs
    bool shares = false;   ///< the urgent grid's blocks come as places get free, beside the others
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
  /// If contexts go to memory: what they hold, and where warps stop for that.
  virtual Saving saving() const { return {}; }
  /// Cycles of an SM after which the next one makes room though nobody wants it; 0: never.
  virtual Cycles signal() const { return Cycles{0}; }
  /// Where blocks stand in SMs that are shared; nothing: none are.
  virtual std::optional<Placement> placement() const { return std::nullopt; }
};

using MakePreemption = std::unique_ptr<Preemption> (*)(const PolicyChoice&);
using PreemptionRow = PolicyRegistry<MakePreemption>::Row;

/// Key `policies.preemption`.
const PolicyList& preemption_policies();
std::unique_ptr<Preemption> make_preemption(const PolicyChoice& choice);
Preemption::Needs needs_of_preemption(const PolicyChoice& choice);
/// How the policy saves blocks; meaningful if it does.
Saving saving_of(const PolicyChoice& choice);

}  // namespace lockstep
