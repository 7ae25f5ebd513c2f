#pragma once

#include <string>

#include "core/output/table.hpp"
#include "models/noc/grid_counts.hpp"
#include "models/sm/parameters/stall_cause.hpp"

namespace lockstep {

/// A row of /tenants.
struct TenantRow {
  std::string tenant;
  std::uint32_t priority = 0;
  Time arrival, end;
  std::uint64_t warp_instructions = 0, thread_instructions = 0, far_faults = 0, cycles = 0;
  double instructions_per_cycle = 0;
  std::uint32_t rounds = 0;
  std::string runs_on = "gpu";
  std::uint32_t gpu = 0;

  static auto schema() {
    using R = TenantRow;
    return table<R>("/tenants", "one row per tenant, in the order of the scenario")
        .column("tenant", &R::tenant, "name", "as in the scenario")
        .column("priority", &R::priority, "level", "as in the scenario")
        .optional_column("gpu", &R::gpu, "number",
                         "of the GPU on which it runs, or whose memory its core shares; only with "
                         "several GPUs")
        .column("arrival", &R::arrival, "fs", "when its host program starts for the first time")
        .column("end", &R::end, "fs",
                "when its program ended for the first time, or when blocks that were done had "
                "executed its `instructions:`; all but `rounds` is counted until then; the largest "
                "value: neither has happened")
        .column("warp_instructions", &R::warp_instructions, "instructions",
                "issued for warps; on a CPU core: retired")
        .column("thread_instructions", &R::thread_instructions, "instructions",
                "issued, counted per active thread; on a CPU core: retired")
        .column("far_faults", &R::far_faults, "faults", "pages of managed memory that faulted")
        .column("cycles", &R::cycles, "core cycles",
                "of an SM, or of its CPU core, from arrival to end; with `arrivals:` from each to "
                "its end, summed")
        .column("instructions_per_cycle", &R::instructions_per_cycle, "instructions/cycle",
                "warp instructions, or those of the CPU core, over cycles")
        .column("rounds", &R::rounds, "rounds", "how often its program came to its end")
        .column("runs_on", &R::runs_on, "", "gpu, or cpu: a core of its own");
  }
};

/// A row of /kernels.
struct KernelRow {
  std::string kernel;
  std::uint32_t tenant = 0, gpu = 0, stream = 0;
  std::uint32_t blocks_x = 0, blocks_y = 0, blocks_z = 0;
  std::uint32_t threads_x = 0, threads_y = 0, threads_z = 0;
  Time enqueued, launched, done;
  Time duration;  ///< from launched to done, or to the end of the run
  std::uint64_t cycles = 0;
  GridCounts counts;
  /// Values of the `kernel:` metrics of metrics.json, from these counts.
  double kernel_instructions_per_cycle = 0, occupancy = 0, tensor_activity = 0, l1_hit_rate = 0,
         l2_hit_rate = 0, l1_tlb_hit_rate = 0, l2_tlb_hit_rate = 0, kernel_dram_bandwidth = 0,
         kernel_link_bandwidth = 0;

  static auto schema() {
    using R = KernelRow;
    using C = GridCounts;
    return table<R>("/kernels",
                    "one row per grid, in the order in which the host queued them.  What SMs count "
                    "is the grid's own, exactly, whoever ran beside it.  What GMMU, partitions and "
                    "host count (columns that say so) is by tenant: exactly what its counters grew "
                    "by from the news at each of them that the grid begins, sent when it was "
                    "launched, to the news that it is done; grids of a tenant that overlap both "
                    "have it.  Ratios without anything to divide by are NaN")
        .column("kernel", &R::kernel, "name", "entry of the module")
        .column("tenant", &R::tenant, "index", "who launched it")
        .optional_column("gpu", &R::gpu, "number", "of the GPU; only with several GPUs")
        .column("stream", &R::stream, "number", "in whose order it ran")
        .column("blocks_x", &R::blocks_x, "blocks", "size of the grid")
        .column("blocks_y", &R::blocks_y, "blocks", "size of the grid")
        .column("blocks_z", &R::blocks_z, "blocks", "size of the grid")
        .column("threads_x", &R::threads_x, "threads", "size of a block")
        .column("threads_y", &R::threads_y, "threads", "size of a block")
        .column("threads_z", &R::threads_z, "threads", "size of a block")
        .column("enqueued", &R::enqueued, "fs", "when the host program queued it")
        .column("launched", &R::launched, "fs", "when it was sent to the GPU")
        .column("done", &R::done, "fs",
                "when the host heard that it was done; the largest value: never")
        .column("duration", &R::duration, "fs",
                "kernel time: from launched to done, or to the end of the run")
        .column("cycles", &R::cycles, "core cycles", "of kernel time")
        .column("active_cycles", &R::counts, &C::active_cycles, "cycles",
                "in which an SM had at least one of its blocks, summed over SMs")
        .column("warp_cycles", &R::counts, &C::warp_cycles, "warp cycles",
                "sum over these of its resident warps")
        .column("warp_instructions", &R::counts, &C::warp_instructions, "instructions",
                "issued, counted per warp")
        .column("thread_instructions", &R::counts, &C::thread_instructions, "instructions",
                "issued, counted per active thread")
        .column("issue_slots", &R::counts, &C::issue_slots, "slots", "scheduler cycles that issued")
        .columns("stall_", stall_cause_names, &R::counts, &C::stalls, "slots",
                 "scheduler cycles that issued nothing for this cause, as /stats/sm/stalls; its "
                 "share: of all of these and issue_slots")
        .column("l1_hits", &R::counts, &C::l1_hits, "lines", "as /stats/sm/l1_hits")
        .column("l1_misses", &R::counts, &C::l1_misses, "lines", "as /stats/sm/l1_misses")
        .column("l1_merges", &R::counts, &C::l1_merges, "lines", "as /stats/sm/l1_merges")
        .column("l1_tlb_hits", &R::counts, &C::l1_tlb_hits, "lines", "as /stats/sm/tlb_hits")
        .column("l1_tlb_misses", &R::counts, &C::l1_tlb_misses, "lines", "as /stats/sm/tlb_misses")
        .column("l1_tlb_merges", &R::counts, &C::l1_tlb_merges, "lines", "as /stats/sm/tlb_merges")
        .columns("matrix_instructions_", isa::matrix_type_names, &R::counts,
                 &C::matrix_instructions, "instructions", "as /stats/sm/matrix_instructions")
        .column("tensor_cycles", &R::counts, &C::tensor_cycles, "unit cycles",
                "as /stats/sm/tensor_cycles")
        .column("matrix_wavefronts", &R::counts, &C::matrix_wavefronts, "cycles",
                "as /stats/sm/matrix_wavefronts")
        .column("async_copy_bytes", &R::counts, &C::async_copy_bytes, "bytes",
                "as /stats/sm/async_copy_bytes")
        .column("bulk_copies", &R::counts, &C::bulk_copies, "copies", "as /stats/sm/bulk_copies")
        .column("bulk_lines", &R::counts, &C::bulk_lines, "lines", "as /stats/sm/bulk_lines")
        .column("bulk_bytes", &R::counts, &C::bulk_bytes, "bytes", "as /stats/sm/bulk_bytes")
        .column("remote_accesses", &R::counts, &C::remote_accesses, "messages",
                "as /stats/sm/remote_accesses")
        .column("remote_bytes", &R::counts, &C::remote_bytes, "bytes", "as /stats/sm/remote_bytes")
        .column("cluster_barriers", &R::counts, &C::cluster_barriers, "barriers",
                "as /stats/sm/cluster_barriers")
        .column("cluster_wait_cycles", &R::counts, &C::cluster_wait_cycles, "warp cycles",
                "as /stats/sm/cluster_wait_cycles")
        .column("l2_tlb_hits", &R::counts, &C::l2_tlb_hits, "requests",
                "/stats/gmmu/tlb_hits of its tenant while it ran")
        .column("l2_tlb_misses", &R::counts, &C::l2_tlb_misses, "requests",
                "/stats/gmmu/tlb_misses of its tenant while it ran")
        .column("l2_hits", &R::counts, &C::l2_hits, "sectors",
                "/stats/partition/sector_hits of its tenant while it ran")
        .column("l2_misses", &R::counts, &C::l2_misses, "sectors",
                "/stats/partition/sector_misses of its tenant while it ran")
        .column("dram_reads", &R::counts, &C::dram_reads, "columns",
                "of 32 bytes: /stats/partition/dram_reads of its tenant while it ran")
        .column("dram_writes", &R::counts, &C::dram_writes, "columns",
                "of 32 bytes: /stats/partition/dram_writes of its tenant while it ran")
        .column("bytes_to_host", &R::counts, &C::bytes_to_host, "bytes",
                "of its tenant over the host link while it ran")
        .column("bytes_to_gpu", &R::counts, &C::bytes_to_gpu, "bytes",
                "of its tenant over the host link while it ran")
        .column("far_faults", &R::counts, &C::far_faults, "faults",
                "/stats/host/far_faults of its tenant while it ran")
        .column("kernel_instructions_per_cycle", &R::kernel_instructions_per_cycle,
                "instructions/cycle", "warp instructions over cycles of kernel time")
        .column("occupancy", &R::occupancy, "ratio",
                "warp_cycles over those that active_cycles had places for")
        .column("tensor_activity", &R::tensor_activity, "ratio",
                "tensor_cycles over those that active_cycles had units for")
        .column("l1_hit_rate", &R::l1_hit_rate, "ratio", "l1_hits over these, misses and merges")
        .column("l2_hit_rate", &R::l2_hit_rate, "ratio", "l2_hits over these and misses")
        .column("l1_tlb_hit_rate", &R::l1_tlb_hit_rate, "ratio",
                "l1_tlb_hits over these, misses and merges")
        .column("l2_tlb_hit_rate", &R::l2_tlb_hit_rate, "ratio",
                "l2_tlb_hits over these and misses")
        .column("kernel_dram_bandwidth", &R::kernel_dram_bandwidth, "bytes/s",
                "dram_reads and dram_writes, of 32 bytes, over kernel time")
        .column("kernel_link_bandwidth", &R::kernel_link_bandwidth, "bytes/s",
                "bytes_to_host and bytes_to_gpu over kernel time");
  }
};

/// A row of /faults (simulation.record_faults).
struct FaultRow {
  std::uint32_t tenant = 0, gpu = 0, pages = 0;
  std::uint64_t virtual_address = 0;
  std::uint32_t position = 0;
  std::string kind, handler;
  Time found, arrived, served, mapped;

  static auto schema() {
    using R = FaultRow;
    return table<R>("/faults",
                    "one row per transfer that somebody waited for, by GPU in the order of "
                    "service; also "
                    "per "
                    "fault after which a page was mapped where it was or became writable, and none "
                    "for faults whose page came with another's (simulation.record_faults)")
        .column("tenant", &R::tenant, "index", "who faulted")
        .optional_column("gpu", &R::gpu, "number", "of the GPU; only with several GPUs")
        .column("virtual_address", &R::virtual_address, "address", "of the first page moved")
        .column("pages", &R::pages, "pages", "of 4 KiB, that came or changed")
        .column("position", &R::position, "granules",
                "older ones that were pending when it was found")
        .column("class", &R::kind, "", "migrate: data came over the host link; allocate: none did")
        .column("handler", &R::handler, "", "host: the driver; local: the GPU by itself")
        .column("found", &R::found, "fs", "when the GMMU knew that the page is not there")
        .column("arrived", &R::arrived, "fs", "when the driver heard of it (found to arrived: hop)")
        .column("served", &R::served, "fs",
                "when the driver had handled it (arrived to served: queue and service)")
        .column(
            "mapped", &R::mapped, "fs",
            "when the GMMU was told to replay (served to mapped: frames, transfer, entries); the "
            "largest value: never");
  }
};

/// A row of /thread_blocks (simulation.record_blocks).
struct BlockRow {
  std::uint32_t grid = 0, gpu = 0, sm = 0;
  std::uint64_t block = 0;
  Time started, done;

  static auto schema() {
    using R = BlockRow;
    return table<R>("/thread_blocks",
                    "one row per thread block that an SM started, in the order of their start "
                    "(simulation.record_blocks)")
        .column("grid", &R::grid, "row", "of /kernels")
        .column("block", &R::block, "number", "in the grid, x fastest")
        .optional_column("gpu", &R::gpu, "number", "of the GPU; only with several GPUs")
        .column("sm", &R::sm, "index", "where it ran; one that waited in memory returned there")
        .column("started", &R::started, "fs", "when it took its place")
        .column("done", &R::done, "fs",
                "when it gave its place up for good; the largest value: never");
  }
};

/// A row of /arrivals.
struct ArrivalRow {
  std::uint32_t tenant = 0;
  Time arrival, began, ended, deadline;
  std::string met;

  static auto schema() {
    using R = ArrivalRow;
    return table<R>("/arrivals",
                    "one row per start of a host program, by tenant and time; those of `relaunch` "
                    "after the first are not among them")
        .column("tenant", &R::tenant, "index", "whose program it is")
        .column("arrival", &R::arrival, "fs", "when it was to start")
        .column("began", &R::began, "fs",
                "when it did: the start before it had ended and its buffers had room")
        .column("ended", &R::ended, "fs", "when it had come to its end; the largest value: never")
        .column("deadline", &R::deadline, "fs",
                "for its end, a point in time; the largest value: it has none")
        .column("met", &R::met, "", "yes, no, or - without a deadline");
  }
};

/// A row of /preemptions (a scenario with a preemption).
struct PreemptedBlockRow {
  std::uint32_t urgent = 0, grid = 0, gpu = 0, sm = 0;
  std::uint64_t block = 0;
  std::string technique;
  Time asked, stopped, released, returned, bound;
  std::string kept;
  Time expected;
  std::uint64_t expected_loss = 0;
  std::string predictor;
  std::uint64_t executed = 0, cycles = 0;
  std::uint32_t idempotent = 0, ended_by = 0, faulted = 0;
  std::uint64_t lost = 0, bytes = 0;
  std::uint32_t register_bytes = 0, shared_bytes = 0;

  static auto schema() {
    using R = PreemptedBlockRow;
    return table<R>("/preemptions",
                    "one row per thread block that made room for a more urgent grid, in the order "
                    "in which they had (policies.preemption)")
        .column("urgent", &R::urgent, "row",
                "of /kernels: who got the place; the block's own: it was a signal")
        .column("grid", &R::grid, "row", "of /kernels: whose block it was")
        .column("block", &R::block, "number", "in the grid, x fastest")
        .optional_column("gpu", &R::gpu, "number", "of the GPU; only with several GPUs")
        .column("sm", &R::sm, "index", "where it ran")
        .column("technique", &R::technique, "",
                "drain: it ran to its end; switch: its context went to memory; flush: it was "
                "dropped and starts again")
        .column("asked", &R::asked, "fs", "when the dispatcher began to take the SM")
        .column("stopped", &R::stopped, "fs",
                "when nothing of a block that was switched was in flight any more; of others: "
                "released")
        .column("released", &R::released, "fs", "when it heard that the block's place is free")
        .column("returned", &R::returned, "fs",
                "when it had a place again, to go on or to start again; the largest value: it did "
                "not, or it had run to its end")
        .column("bound", &R::bound, "fs",
                "latency_bound of the urgent tenant, from asked on; the largest value: it has none")
        .column("kept", &R::kept, "", "the bound: yes, no, or - without one")
        .column("expected", &R::expected, "fs",
                "time until the place is free, as it was estimated at the decision; the largest "
                "value: nothing was")
        .column("expected_loss", &R::expected_loss, "instructions",
                "warp instructions that this would cost, as it was estimated")
        .column("predictor", &R::predictor, "",
                "whose cycles per instruction the estimate of a drain went by: the block's own, "
                "those of finished blocks; or -")
        .column("executed", &R::executed, "instructions",
                "warp instructions of the block before the decision; 0 where nothing was estimated")
        .column("cycles", &R::cycles, "cycles", "of the SM, that it had been on chip; likewise")
        .column("idempotent", &R::idempotent, "", "1: it could still have been flushed; likewise")
        .column("ended_by", &R::ended_by, "line",
                "of the PTX text: the instruction after which it could not; 0: it could, or it had "
                "run on another SM then")
        .column("faulted", &R::faulted, "", "1: it waited for a page; likewise")
        .column("lost", &R::lost, "instructions", "warp instructions of a flushed block")
        .column("bytes", &R::bytes, "bytes", "of the context of a block that was switched")
        .column("register_bytes", &R::register_bytes, "bytes",
                "part of the context that registers take")
        .column("shared_bytes", &R::shared_bytes, "bytes",
                "part of the context that shared memory takes; the rest is control state");
  }
};

/// A row of /run/profile/components.
struct ComponentCostRow {
  std::string component;
  std::uint64_t nanoseconds = 0;

  static auto schema() {
    using R = ComponentCostRow;
    return table<R>(
               "/run/profile/components",
               "with `--profile`: what each component cost, of all ranks; `--weights` reads it")
        .column("component", &R::component, "name", "kind and index")
        .column("nanoseconds", &R::nanoseconds, "ns", "of its threads in all windows");
  }
};

/// A row of /run/profile/windows.
struct WindowCostRow {
  std::uint32_t window = 0, component = 0, nanoseconds = 0, windows = 0;

  static auto schema() {
    using R = WindowCostRow;
    return table<R>(
               "/run/profile/windows",
               "with `--profile`: what the components of rank 0 cost in a sample of the windows, "
               "and wherever one took long; the first few million rows")
        .column("window", &R::window, "number", "windows follow each other in simulated time")
        .column("component", &R::component, "row", "of /run/profile/components")
        .column("nanoseconds", &R::nanoseconds, "ns", "of its thread")
        .column("windows", &R::windows, "windows", "like it that it stands for, itself included");
  }
};

/// A row of /run/profile/times.
struct WindowTimesRow {
  std::uint32_t rank = 0, window = 0, working = 0, synchronising = 0, exchanging = 0, waiting = 0;

  static auto schema() {
    using R = WindowTimesRow;
    return table<R>(
               "/run/profile/times",
               "with `--profile`: where the time of each window of each rank went, a mean over "
               "its threads; the first million windows")
        .column("rank", &R::rank, "number", "of MPI")
        .column("window", &R::window, "number", "counted by each rank for itself")
        .column("working", &R::working, "ns", "in components, copying of messages included")
        .column("synchronising", &R::synchronising, "ns", "opening and closing the window")
        .column("exchanging", &R::exchanging, "ns", "with other ranks, before the window")
        .column("waiting", &R::waiting, "ns", "for slower threads and ranks");
  }
};

/// A row of /run/profile/ranks.
struct RankRow {
  std::uint32_t rank = 0;
  double wall = 0, working = 0, synchronising = 0, exchanging = 0, waiting = 0, other = 0;
  double sampling = 0, windows_apart = 1;

  static auto schema() {
    using R = RankRow;
    return table<R>("/run/profile/ranks",
                    "with `--profile`: where the time of each rank went, a mean over its threads")
        .column("rank", &R::rank, "number", "of MPI")
        .column("wall", &R::wall, "s", "of the simulation loop")
        .column("working", &R::working, "s", "in components")
        .column("synchronising", &R::synchronising, "s",
                "opening and closing windows, copying of messages")
        .column("exchanging", &R::exchanging, "s", "with other ranks")
        .column("waiting", &R::waiting, "s", "for slower threads and ranks")
        .column("other", &R::other, "s",
                "recording epochs: asking components what they have counted, and writing it")
        .optional_column("sampling", &R::sampling, "s",
                         "of that: asking the rank's own components what they have counted")
        .optional_column("windows_apart", &R::windows_apart, "windows",
                         "in which a rank that has whole GPUs would not meet others; 1: one GPU, "
                         "or several ranks");
  }
};

/// A row of /run/profile/speedup.
struct SpeedupRow {
  std::uint32_t workers = 0;
  double speedup = 0;

  static auto schema() {
    using R = SpeedupRow;
    return table<R>("/run/profile/speedup",
                    "with `--profile`: predicted from the costs in each window on rank 0")
        .column("workers", &R::workers, "workers", "threads or ranks")
        .column("speedup", &R::speedup, "ratio", "over one worker");
  }
};

}  // namespace lockstep
