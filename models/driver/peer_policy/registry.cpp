#include "core/parameters/registered.hpp"
#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {

const PolicyRegistry<MakePeerPolicy>& peer_policy_registry() {
  static const PolicyRegistry<MakePeerPolicy> registry{
      LOCKSTEP_REGISTERED(MakePeerPolicy, driver_peers),
      LOCKSTEP_REGISTERED(MakePeerPolicy, duplicate_peers),
      LOCKSTEP_REGISTERED(MakePeerPolicy, grit_peers),
      LOCKSTEP_REGISTERED(MakePeerPolicy, migrate_peers),
      LOCKSTEP_REGISTERED(MakePeerPolicy, remote_peers),
  };
  return registry;
}

const PolicyList& peer_policies() {
  return peer_policy_registry().list();
}

std::unique_ptr<PeerPolicy> make_peer_policy(const PolicyChoice& choice) {
  return peer_policy_registry().factory(choice)(choice);
}

}  // namespace lockstep
