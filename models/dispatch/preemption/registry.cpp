#include "core/parameters/registered.hpp"
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

static const PolicyRegistry<Technique>& preemption_registry() {
  static const PolicyRegistry<Technique> registry{
      LOCKSTEP_REGISTERED(Technique, no_preemption),
      LOCKSTEP_REGISTERED(Technique, preemption_by_draining),
      LOCKSTEP_REGISTERED(Technique, preemption_by_switching),
  };
  return registry;
}

const PolicyList& preemption_policies() {
  return preemption_registry().list();
}

Technique technique_of(const PolicyChoice& choice) {
  return preemption_registry().factory(choice);
}

}  // namespace lockstep
