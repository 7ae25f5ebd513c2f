/// Rules of the open UVM driver: a page moves to the faulting GPU until GPUs fight over it.  Then
/// it is pinned where it is and the others map it, or they wait for it longer.
///
/// A fault counts as a thrashing event when the page moved to another GPU within `lapse` before.
/// After `events` of them in a row, GPUs that can reach the page map it where it is, for `pin` from
/// the first such fault on; for the other GPUs the page stays for `nap`.  Read duplication comes
/// first, by `advise: {read_mostly: true}`.
/// Source: uvm_va_block.c and uvm_perf_thrashing.c (open-gpu-kernel-modules 595.45.04).
///
/// Simplified: events are counted by page, without earlier events of the block. Mappings stay after
/// the pin has ended, until the page leaves. Access counters are off, as in the driver.
#include <algorithm>

#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {
namespace {

struct DriverPeerParameters : PeerParameters {
  std::uint32_t events;
  Time lapse, nap, pin;

  static auto schema() {
    using namespace literals;
    using P = DriverPeerParameters;
    return PeerParameters::fields<P>()
        .field("events", &P::events, 3, range(1, 1 << 20),
               "moves of a page from GPU to GPU in a row after which it counts as thrashing")
        .field("lapse", &P::lapse, 500_us, range(0_ns, 1000_ms),
               "time between two moves within which they belong together")
        .field("nap", &P::nap, 500_us, range(0_ns, 1000_ms),
               "how long a thrashing page stays on a GPU that the others do not reach")
        .field("pin", &P::pin, 300_ms, range(0_ns, 1000_ms),
               "how long faults of others map a thrashing page where it is");
  }
};

class UvmDriver final : public PeerPolicy {
 public:
  explicit UvmDriver(const DriverPeerParameters& parameters) : parameters_(parameters) {}

  const PeerParameters& parameters() const override { return parameters_; }
  PeerWay way(const PeerFault& fault) const override {
    const PeerHistory& history = fault.history;
    const bool is_pinned = fault.now < history.pinned_until;
    const bool thrashes =
        history.events >= parameters_.events && fault.now - history.last <= parameters_.lapse;
    return fault.is_reachable && (is_pinned || thrashes) ? PeerWay::map : PeerWay::move;
  }
  void note(const PeerFault& fault, PeerHistory& history) const override {
    if (way(fault) == PeerWay::map) {
      if (fault.now >= history.pinned_until) history.pinned_until = fault.now + parameters_.pin;
      return;
    }
    const bool follows =
        history.gpu != PeerHistory::nobody && fault.now - history.last <= parameters_.lapse;
    if (!follows) {
      history.events = 0;
    } else if (history.gpu != fault.gpu) {
      ++history.events;
    }
    history.gpu = static_cast<std::uint8_t>(fault.gpu);
    history.last = fault.now;
  }
  Time stays(const PeerHistory& history) const override {
    return history.events < parameters_.events ? parameters_.stays
                                               : std::max(parameters_.stays, parameters_.nap);
  }

 private:
  const DriverPeerParameters parameters_;
};

}  // namespace

PeerPolicyRow driver_peers() {
  return peer_policy_row<UvmDriver, DriverPeerParameters>(
      "driver", "the page moves; one that goes to and fro is mapped where it is, or stays longer");
}

}  // namespace lockstep
