/// A page of managed memory is on one GPU: a fault of another one takes it away.
///
/// Source: UVM's default without preferred location and thrashing pin (open-gpu-kernel-modules).
///
/// Simplified: the page goes by way of host memory, as between GPUs without peer access.
#include "models/driver/peer_policy/peer_parameters.hpp"
#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {
namespace {

class Migrate final : public PeerPolicy {
 public:
  explicit Migrate(const PeerParameters& parameters) : parameters_(parameters) {}

  PeerWay way(const PeerFault&) const override { return PeerWay::move; }
  Time stays() const override { return parameters_.stays; }

 private:
  const PeerParameters parameters_;
};

}  // namespace

PeerPolicyRow migrate_peers() {
  return {"migrate",
          "the page moves to the GPU that faults",
          {[](const PolicyChoice& choice) -> std::unique_ptr<PeerPolicy> {
            return std::make_unique<Migrate>(choice.parameters<PeerParameters>());
          }},
          &schema_of<PeerParameters>()};
}

}  // namespace lockstep
