#include "core/parameters/registered.hpp"
#include "models/dispatch/preemption/preemption.hpp"
#include "models/dispatch/sharing/sharing.hpp"

namespace lockstep {

/// Returns the traits and needs that follow from the steps of a technique for the policies beside
/// it.
static PolicyTraits traits_of_preemption(const PolicyChoice& choice) {
  const PreemptionSteps steps = steps_of(choice);
  PolicyTraits traits;
  if (!steps.take) return traits;
  if (!steps.share) traits.has.push_back("takes whole SMs");
  if (steps.flush) traits.has.push_back("throws work away");
  traits.needs.push_back(
      {.plug_point = "sharing",
       .trait = lets_sms_be_taken,
       .why = "takes whole SMs from a tenant",
       .other = "gives each its own",
       .advice = "choose sharing: exclusive, time-sliced or smk, or preemption: none"});
  if (steps.take->others != Technique::save)
    traits.needs.push_back({.plug_point = "sharing",
                            .trait = shares_sms,
                            .absent = true,
                            .why = "takes whole SMs from a tenant",
                            .other = "lets all use every SM",
                            .advice = "choose preemption: switch or none, or sharing: exclusive"});
  if (steps.leaves_in_place() || steps.take->signal > Cycles{0})
    traits.needs.push_back({.plug_point = "sharing",
                            .trait = shares_sms,
                            .absent = true,
                            .why = "has in_place or a signal, which are of whole SMs",
                            .other = "has parts of them make room",
                            .advice = "leave them out, or choose sharing: exclusive"});
  return traits;
}

static const PolicyRegistry<MakePreemption>& preemption_registry() {
  static const PolicyRegistry<MakePreemption> registry{
      {
          LOCKSTEP_REGISTERED(MakePreemption, no_preemption),
          LOCKSTEP_REGISTERED(MakePreemption, preemption_by_draining),
          LOCKSTEP_REGISTERED(MakePreemption, preemption_by_switching),
          LOCKSTEP_REGISTERED(MakePreemption, preemption_by_flushing),
          LOCKSTEP_REGISTERED(MakePreemption, preemption_by_chimera),
          LOCKSTEP_REGISTERED(MakePreemption, preemption_by_chimera_plus),
          LOCKSTEP_REGISTERED(MakePreemption, preemption_with_dual_kernel),
          LOCKSTEP_REGISTERED(MakePreemption, preemption_by_oracle),
          LOCKSTEP_REGISTERED(MakePreemption, preemption_as_planned),
      },
      traits_of_preemption};
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
  const PreemptionSteps steps = steps_of(choice);
  return in_parts && steps.save ? Placement::packed : steps.placement;
}

PreemptionSteps steps_of(const PolicyChoice& choice) {
  return make_preemption(choice)->steps();
}

}  // namespace lockstep
