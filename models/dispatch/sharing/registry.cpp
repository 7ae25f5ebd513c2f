#include "core/parameters/registered.hpp"
#include "models/dispatch/sharing/sharing.hpp"

namespace lockstep {

const PolicyRegistry<MakeSharing>& sharing_registry() {
  static const PolicyRegistry<MakeSharing> registry{
      LOCKSTEP_REGISTERED(MakeSharing, exclusive_sharing),
      LOCKSTEP_REGISTERED(MakeSharing, simultaneous_multikernel),
      LOCKSTEP_REGISTERED(MakeSharing, spatial_sharing),
      LOCKSTEP_REGISTERED(MakeSharing, time_sliced_sharing),
  };
  return registry;
}

const PolicyList& sharing_policies() {
  return sharing_registry().list();
}

bool is_time_sliced(const PolicyChoice& choice) {
  return make_sharing(choice, {})->slice() != Time::never();
}

bool is_in_parts(const PolicyChoice& choice) {
  return make_sharing(choice, {})->in_parts();
}

std::unique_ptr<Sharing> make_sharing(const PolicyChoice& choice, const SharingSetup& setup) {
  return sharing_registry().factory(choice)(choice, setup);
}

}  // namespace lockstep
