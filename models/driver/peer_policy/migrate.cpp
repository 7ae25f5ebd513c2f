/// A page of managed memory is on one GPU at a time; a fault of another GPU takes it away.
///
/// Source: UVM's default without preferred location and thrashing pin (open-gpu-kernel-modules).
#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {
namespace {

class Migrate final : public PeerPolicy {
 public:
  explicit Migrate(const PeerParameters& parameters) : parameters_(parameters) {}

  const PeerParameters& parameters() const override { return parameters_; }
  PeerWay way(const PeerFault&) const override { return PeerWay::move; }

 private:
  const PeerParameters parameters_;
};

}  // namespace

PeerPolicyRow migrate_peers() {
  return peer_policy_row<Migrate, PeerParameters>("migrate",
                                                  "the page moves to the GPU that faults");
}

}  // namespace lockstep
