#include "core/parameters/registered.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"

namespace lockstep {

PolicyRegistry<DramSchedulerFactory>& dram_schedulers() {
  static PolicyRegistry<DramSchedulerFactory> registry{
      LOCKSTEP_REGISTERED(DramSchedulerFactory, fcfs_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, fr_fcfs_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, cfr_fcfs_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, par_bs_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, atlas_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, tcm_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, ctcm_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, sms_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, medic_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, mask_scheduler),
      LOCKSTEP_REGISTERED(DramSchedulerFactory, medic_mask_scheduler),
  };
  return registry;
}

const PolicyList& dram_scheduler_policies() {
  return dram_schedulers().list();
}

PolicyNeed needs_hitting_warps() {
  return {.plug_point = "cache_policy",
          .trait = knows_hitting_warps,
          .why = "must know which warps hit mostly",
          .other = "does not find out",
          .advice =
              "choose cache_policy: {name: medic, bypass: false, insertion: false}, which "
              "finds out and leaves the L2 as it is, or another dram_scheduler"};
}

PolicyNeed needs_walk_measures() {
  return {.plug_point = "tlb_fill",
          .trait = "measures walks",
          .why = "must know whose warps wait for page walks",
          .other = "does not measure it",
          .advice =
              "choose tlb_fill: {name: mask, tokens: false}, which measures and leaves the "
              "TLB as it is, or another dram_scheduler"};
}

std::unique_ptr<DramScheduler> make_dram_scheduler(const PartitionPolicySetup& setup) {
  return dram_schedulers().factory(setup.choice).make(setup);
}

}  // namespace lockstep
