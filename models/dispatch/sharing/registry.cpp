#include "core/parameters/registered.hpp"
#include "models/dispatch/sharing/sharing.hpp"

namespace lockstep {

const PolicyRegistry<MakeSharing>& sharing_registry() {
  static const PolicyRegistry<MakeSharing> registry{
      LOCKSTEP_REGISTERED(MakeSharing, exclusive_sharing),
      LOCKSTEP_REGISTERED(MakeSharing, spatial_sharing),
  };
  return registry;
}

const PolicyList& sharing_policies() {
  return sharing_registry().list();
}

std::unique_ptr<Sharing> make_sharing(const PolicyChoice& choice, const SharingSetup& setup) {
  return sharing_registry().factory(choice)(choice, setup);
}

}  // namespace lockstep
