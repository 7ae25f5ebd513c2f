#pragma once

#include "core/parameters/parameters.hpp"
#include "models/host_link/tenant_turns.hpp"
#include "models/vm/replay_mode.hpp"

namespace lockstep {

enum class FaultCost : std::uint8_t { uvmsmart, tanasic, linear };
enum class FaultBatch : std::uint8_t {
  per_page,
  per_block,
  per_batch,
  all_waiting,  ///< all faults that wait when the driver begins, found in the same cycle or not
};
enum class FaultSerialization : std::uint8_t { cpu_and_link, whole_cost, none };
enum class FaultSplit : std::uint8_t { upto, isolate };

/// Parameters of the driver on the CPU, common to all ways of fault handling.
/// Source: virtual-memory-and-exceptions.md, sections 3.3, 3.5 and 5.5.
struct HostFaultParameters {
  ReplayMode replay;
  FaultCost cost_model;
  FaultBatch batch;
  TenantOrder order;
  FaultSerialization serialize;
  FaultSplit split;
  Time handling, cpu_service, migrate, allocate;

  /// Returns the time of a fault that waits for no other fault, without its transfer if that comes
  /// on top.
  Time expected() const { return cost_model == FaultCost::tanasic ? migrate : handling; }

  static auto schema() { return fields<HostFaultParameters>(); }
  /// Fields of these parameters at the head of the parameters P, a derived struct of another
  /// policy.
  template <class P>
  static ParametersOf<P> fields() {
    using namespace literals;
    return parameters<P>()
        .field("replay", &P::replay, ReplayMode::listed,
               choice({"listed", "broadcast", "block-tlb"}),
               "SMs that the GMMU tells that a page has come")
        .field(
            "cost_model", &P::cost_model, FaultCost::uvmsmart,
            choice({"uvmsmart", "tanasic", "linear"}),
            "uvmsmart: `handling` one after the other, then the transfer; tanasic: `migrate` or "
            "`allocate` from fault to replay; linear: `handling` side by side, then the transfer")
        .field(
            "batch", &P::batch, FaultBatch::per_page,
            choice({"per-page", "per-block", "per-batch", "all-waiting"}),
            "faults that the driver handles together: faults of one cycle on the same page, on the "
            "same 64 KiB block, or all faults of one cycle; or all faults that wait when it begins")
        .field("order", &P::order, TenantOrder::fifo, choice({"fifo", "round-robin", "priority"}),
               "tenant whose fault the driver takes next")
        .field("serialize", &P::serialize, FaultSerialization::cpu_and_link,
               choice({"cpu+link", "whole-cost", "none"}),
               "part of a fault that keeps the next one waiting")
        .field("split", &P::split, FaultSplit::upto, choice({"upto", "isolate"}),
               "how a range is cut into transfers around its faulting pages")
        .field("handling", &P::handling, 45_us, range(0_ns, 1000_ms),
               "the driver's time for a fault")
        .field("cpu_service", &P::cpu_service, 2_us, range(0_ns, 1000_ms),
               "how long a fault keeps the CPU")
        .field("migrate", &P::migrate, 12_us, range(0_ns, 1000_ms),
               "round trip of a fault whose data move")
        .field("allocate", &P::allocate, 10_us, range(0_ns, 1000_ms),
               "round trip of a fault on untouched pages")
        .only_if("handling", "with cost_model: uvmsmart or linear",
                 [](const P& p) { return p.cost_model != FaultCost::tanasic; })
        .only_if("serialize migrate allocate", "with cost_model: tanasic",
                 [](const P& p) { return p.cost_model == FaultCost::tanasic; })
        .only_if("cpu_service", "with cost_model: tanasic and serialize: cpu+link", [](const P& p) {
          return p.cost_model == FaultCost::tanasic &&
                 p.serialize == FaultSerialization::cpu_and_link;
        });
  }
};

}  // namespace lockstep
