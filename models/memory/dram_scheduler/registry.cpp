#include "models/memory/dram_scheduler/dram_scheduler.hpp"

namespace lockstep {

const PolicyRegistry<MakeDramScheduler>& dram_schedulers() {
  static const PolicyRegistry<MakeDramScheduler> registry{
      {"fcfs", "first come, first served", make_fcfs},
      {"fr-fcfs", "requests for open rows first, then the oldest (004, section 2)", make_fr_fcfs,
       &fr_fcfs_parameters()},
  };
  return registry;
}

const PolicyList& dram_scheduler_policies() {
  return dram_schedulers().list();
}

std::unique_ptr<DramScheduler> make_dram_scheduler(const PolicyChoice& choice) {
  return dram_schedulers().factory(choice)(choice);
}

}  // namespace lockstep
