/// A page of managed memory stays on its GPU.  Other GPUs map it, and their loads, stores and
/// atomics go there over the fabric.
///
/// The port of the GPU that maps a page counts its requests to the page; at the threshold it tells
/// the driver, which moves the page as after a fault.
/// Source: remote mapping and access counters of UVM (open-gpu-kernel-modules, uvm_gpu_access_
/// counters.c); GRIT, HPCA 2024.
///
/// Simplified: accesses are counted by page, not by regions of 2 MiB.
#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {
namespace {

class Remote final : public PeerPolicy {
 public:
  explicit Remote(const CountedPeerParameters& parameters) : parameters_(parameters) {}

  const PeerParameters& parameters() const override { return parameters_; }
  PeerWay way(const PeerFault& fault) const override {
    return fault.is_reachable ? PeerWay::map : PeerWay::move;
  }
  bool needs_ways() const override { return true; }
  std::uint32_t counts_to() const override { return parameters_.threshold; }

 private:
  const CountedPeerParameters parameters_;
};

}  // namespace

PeerPolicyRow remote_peers() {
  return peer_policy_row<Remote, CountedPeerParameters>(
      "remote", "the page stays where it is, and others reach it over the fabric");
}

}  // namespace lockstep
