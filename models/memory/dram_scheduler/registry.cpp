#include "core/parameters/registered.hpp"
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

std::unique_ptr<DramScheduler> make_dram_scheduler(const PartitionPolicySetup& setup) {
  return dram_schedulers().factory(setup.choice).make(setup);
}

}  // namespace lockstep
