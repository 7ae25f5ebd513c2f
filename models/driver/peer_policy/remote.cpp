/// A page of managed memory stays on the GPU that has it: others map it, and their loads, stores
/// and atomics go there over the fabric.
///
/// Where there is no way, the page moves.
/// Source: remote mapping of UVM with peer access (open-gpu-kernel-modules); GRIT, HPCA 2024.
///
/// Simplified: no access counters; a page comes to another GPU only after it has been in host
/// memory.
#include "models/driver/peer_policy/peer_parameters.hpp"
#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {
namespace {

class Remote final : public PeerPolicy {
 public:
  explicit Remote(const PeerParameters& parameters) : parameters_(parameters) {}

  PeerWay way(const PeerFault& fault) const override {
    return fault.is_reachable ? PeerWay::map : PeerWay::move;
  }
  Time stays() const override { return parameters_.stays; }

 private:
  const PeerParameters parameters_;
};

}  // namespace

PeerPolicyRow remote_peers() {
  return {"remote",
          "the page stays where it is, and others reach it over the fabric",
          {[](const PolicyChoice& choice) -> std::unique_ptr<PeerPolicy> {
            return std::make_unique<Remote>(choice.parameters<PeerParameters>());
          }},
          &schema_of<PeerParameters>()};
}

}  // namespace lockstep
