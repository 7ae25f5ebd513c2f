#pragma once

#include "core/statistics/statistics.hpp"
#include "models/isa/program.hpp"

namespace lockstep {

struct DispatchStatistics {
  PerTenant<Counter> grids, blocks, grids_done, blocks_done;
  PerTenant<Counter> sms_taken, blocks_returned, blocks_moved, blocks_restarted,
      wasted_instructions;
  PerTenant<Counter> preemption_time, bounds_broken;
  PerTenant<Counter> takeover_time, takeover_registers, takeover_shared, takeover_threads,
      takeover_blocks;
  PerTenant<Counter> candidates, places_chosen, places_free_before, places_widened;
  PerTenant<Counter> sms_considered, fragmented_registers, fragmented_shared;
  PerTenant<Counter> points, barrier_points;
  PerTenant<Histogram<20>> preemption_latency;
  Gauge grids_waiting;

  /// Counts the preemption points in the code of a kernel that the tenant launches.
  void count_points(const isa::Program& program, std::size_t tenant) {
    for (const isa::Instruction& instruction : program.instructions) {
      if ((instruction.flags & isa::flag_preemption_point) == 0) continue;
      ++(instruction.category == isa::Category::barrier ? barrier_points : points)[tenant];
    }
  }

  static auto schema() {
    using S = DispatchStatistics;
    return statistics<S>()
        .per_tenant("grids", &S::grids, "grids", "launches that reached the dispatcher")
        .per_tenant("grids_done", &S::grids_done, "grids", "grids whose blocks are all done")
        .per_tenant("blocks", &S::blocks, "blocks", "thread blocks sent to SMs")
        .per_tenant("blocks_done", &S::blocks_done, "blocks", "thread blocks finished")
        .per_tenant("sms_taken", &S::sms_taken, "SMs",
                    "SMs that the tenant had to give to a more urgent tenant, counted each time")
        .per_tenant("blocks_returned", &S::blocks_returned, "blocks",
                    "blocks that waited at an SM which was taken, and were sent again")
        .per_tenant("blocks_moved", &S::blocks_moved, "blocks",
                    "blocks that were saved by one SM and returned to another")
        .per_tenant("blocks_restarted", &S::blocks_restarted, "blocks",
                    "blocks that were flushed and go out again")
        .per_tenant("wasted_instructions", &S::wasted_instructions, "instructions",
                    "warp instructions of flushed blocks; not among those that the tenant's blocks "
                    "have executed")
        .per_tenant("bounds_broken", &S::bounds_broken, "SMs",
                    "SMs that the tenant got later than its latency_bound after the decision")
        .per_tenant(
            "preemption_time", &S::preemption_time, "ns",
            "time from the decision that the tenant gets an SM until the SM is free, summed")
        .per_tenant("takeover_time", &S::takeover_time, "ns",
                    "time from the decision that the tenant gets an SM until the tenant has all "
                    "its places in the SM, summed")
        .per_tenant("takeover_registers", &S::takeover_registers, "register ns",
                    "registers of all blocks in the SM, integrated over takeover_time")
        .per_tenant("takeover_shared", &S::takeover_shared, "byte ns",
                    "shared memory of all blocks in the SM, integrated over takeover_time")
        .per_tenant("takeover_threads", &S::takeover_threads, "thread ns",
                    "threads of all blocks in the SM, integrated over takeover_time")
        .per_tenant("takeover_blocks", &S::takeover_blocks, "block ns",
                    "slots of all blocks in the SM, integrated over takeover_time")
        .per_tenant("candidates", &S::candidates, "places",
                    "places where blocks of the tenant's grids could stand in SMs that were "
                    "considered for sharing, at each decision")
        .per_tenant("places_chosen", &S::places_chosen, "places", "candidates that were chosen")
        .per_tenant("places_free_before", &S::places_free_before, "places",
                    "chosen places for which no block had to leave")
        .per_tenant(
            "places_widened", &S::places_widened, "places",
            "chosen places for which blocks elsewhere left, because threads or slots were short")
        .per_tenant("sms_considered", &S::sms_considered, "SMs",
                    "SMs that were considered for sharing, at each decision")
        .per_tenant("fragmented_registers", &S::fragmented_registers, "registers",
                    "registers that were free in SMs of sms_considered, but in no free place of "
                    "the tenant's blocks, summed")
        .per_tenant("fragmented_shared", &S::fragmented_shared, "bytes",
                    "shared memory that was free in SMs of sms_considered, but in no free place of "
                    "the tenant's blocks, summed")
        .per_tenant("points", &S::points, "instructions",
                    "preemption points in the code of launched kernels; each launch counts "
                    "(points: selective)")
        .per_tenant("barrier_points", &S::barrier_points, "instructions",
                    "barriers that are preemption points in the code of launched kernels")
        .per_tenant("preemption_latency", &S::preemption_latency, "SMs",
                    "SMs by preemption_time in ns")
        .gauge("grids_waiting", &S::grids_waiting, "grids", "grids not finished");
  }
};

}  // namespace lockstep
