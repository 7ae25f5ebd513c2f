/// GRIT: the faults of a page decide between migration on touch, remote mapping with access
/// counters, and duplication.
///
/// A page begins with migration.  After `faults` faults on any GPU it is mapped remotely if one of
/// them was a store, and duplicated otherwise; the decision is repeated after each further `faults`
/// faults.  Neighbouring pages follow when most of a group have the page's scheme
/// (SharedPages::spread_scheme).
/// Source: GRIT, HPCA 2024.
///
/// Simplified: the driver keeps the table of pages without memory traffic, so that there is no
/// PA-Cache. Schemes begin anew when a buffer does.
#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {
namespace {

struct GritParameters : CountedPeerParameters {
  std::uint32_t faults;

  static auto schema() {
    using P = GritParameters;
    return CountedPeerParameters::fields<P>().field(
        "faults", &P::faults, 4, range(1, 1 << 20),
        "faults on a page, including stores to copies, after which its scheme is chosen again");
  }
};

class Grit final : public PeerPolicy {
 public:
  explicit Grit(const GritParameters& parameters) : parameters_(parameters) {}

  const PeerParameters& parameters() const override { return parameters_; }
  PeerWay way(const PeerFault& fault) const override {
    const PeerWay scheme = fault.history.scheme;
    const bool fits = scheme == PeerWay::map ? fault.is_reachable : !fault.write;
    return fits ? scheme : PeerWay::move;
  }
  bool copies_reads(const PeerHistory& history) const override {
    return history.scheme == PeerWay::copy;
  }
  void note(const PeerFault& fault, PeerHistory& history) const override {
    history.is_written |= fault.write;
    if (++history.faults < parameters_.faults) return;
    history.scheme = history.is_written ? PeerWay::map : PeerWay::copy;
    history.faults = 0;
    history.is_written = false;
  }
  using PeerPolicy::copies_reads;
  bool spreads_schemes() const override { return true; }
  std::uint32_t counts_to() const override { return parameters_.threshold; }

 private:
  const GritParameters parameters_;
};

}  // namespace

PeerPolicyRow grit_peers() {
  return peer_policy_row<Grit, GritParameters>(
      "grit", "moved, mapped or copied, as the page's faults say (GRIT, HPCA 2024)");
}

}  // namespace lockstep
