/// A read copies a page of managed memory to the reading GPU; a store takes it from all other GPUs.
///
/// The host has the same bytes as the copies, so that a leaving copy is not written back.
/// Source: read duplication of UVM (open-gpu-kernel-modules); GRIT, HPCA 2024.
///
/// Simplified: pages of 4 KiB only; with larger ones the page moves.
#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {
namespace {

class Duplicate final : public PeerPolicy {
 public:
  explicit Duplicate(const PeerParameters& parameters) : parameters_(parameters) {}

  const PeerParameters& parameters() const override { return parameters_; }
  PeerWay way(const PeerFault& fault) const override {
    return fault.write ? PeerWay::move : PeerWay::copy;
  }
  bool copies_reads() const override { return true; }

 private:
  const PeerParameters parameters_;
};

}  // namespace

PeerPolicyRow duplicate_peers() {
  return peer_policy_row<Duplicate, PeerParameters>(
      "duplicate", "reads copy the page, a store takes it from all others");
}

}  // namespace lockstep
