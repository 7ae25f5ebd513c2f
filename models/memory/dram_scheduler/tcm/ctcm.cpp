/// Thread cluster memory scheduling in which every request of the CPU goes before every request of
/// the GPU.
///
/// The GPU starves while the CPU has requests.
/// Source: 004, section 5.5.4; memory-interference.md, section 2.5.
///
/// Simplified: as TCM (tcm.hpp); requests that do not come from SMs or the GMMU count as the CPU's.
#include "models/memory/dram_scheduler/tcm/tcm.hpp"

namespace lockstep {

PolicyRegistry<DramSchedulerFactory>::Row ctcm_scheduler() {
  return tcm_row("ctcm", "tcm, but the CPU before the GPU, which may starve (004, section 5.5.4)",
                 [](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
                   return std::make_unique<Tcm>(setup, Tcm::First::cpu);
                 });
}

}  // namespace lockstep
