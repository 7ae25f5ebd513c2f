#include "models/dispatch/sharing/sharing.hpp"

namespace lockstep {

const PolicyRegistry<MakeSharing>& sharing_registry() {
  static const PolicyRegistry<MakeSharing> registry{
      {"exclusive", "one kernel at a time, in order of arrival", make_exclusive},
      {"spatial", "SMs split among tenants for the whole run", make_spatial},
  };
  return registry;
}

const PolicyList& sharing_policies() {
  return sharing_registry().list();
}

}  // namespace lockstep
