#include "core/parameters/registered.hpp"
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

static const PolicyRegistry<MakePreemption>& preemption_registry() {
  static const PolicyRegistry<MakePreemption> registry{
      LOCKSTEP_REGISTERED(MakePreemption, no_preemption),
      LOCKSTEP_REGISTERED(MakePreemption, preemption_by_draining),
      LOCKSTEP_REGISTERED(MakePreemption, preemption_by_switching),
      LOCKSTEP_REGISTERED(MakePreemption, preemption_by_flushing),
      LOCKSTEP_REGISTERED(MakePreemption, preemption_by_chimera),
      LOCKSTEP_REGISTERED(MakePreemption, preemption_by_chimera_plus),
      LOCKSTEP_REGISTERED(MakePreemption, preemption_with_dual_kernel),
      LOCKSTEP_REGISTERED(MakePreemption, preemption_by_oracle),
  };
  return registry;
}

const PolicyList& preemption_policies() {
  return preemption_registry().list();
}

std::unique_ptr<Preemption> make_preemption(const PolicyChoice& choice) {
  return preemption_registry().factory(choice)(choice);
}

Placement placement_for(const PolicyChoice& choice, bool in_parts, Placement machine) {
  if (machine != Placement::summed) return machine;
  const std::unique_ptr<Preemption> preemption = make_preemption(choice);
  return in_parts && preemption->needs().saves ? Placement::packed : preemption->placement();
}

Saving saving_of(const PolicyChoice& choice) {
  return make_preemption(choice)->saving();
}

Preemption::Needs needs_of_preemption(const PolicyChoice& choice) {
  return make_preemption(choice)->needs();
}

}  // namespace lockstep
