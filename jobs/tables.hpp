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
        .column("tenant", &R::tenant, "name", "value of the scenario")
        .column("priority", &R::priority, "level", "value of the scenario")
        .optional_column("gpu", &R::gpu, "number",
                         "number of the GPU on which the tenant runs, or whose memory its CPU core "
                         "shares; only with several GPUs")
        .column("arrival", &R::arrival, "fs", "when its host program starts for the first time")
        .column("end", &R::end, "fs",
                "first end of the tenant's program, or time at which its finished blocks had "
                "executed its `instructions:`; all columns but `rounds` count until this time; the "
                "largest value: neither has happened")
        .column("warp_instructions", &R::warp_instructions, "instructions",
                "warp instructions that were issued; on a CPU core: retired instructions")
        .column("thread_instructions", &R::thread_instructions, "instructions",
                "instructions that were issued, counted per active thread; on a CPU core: retired "
                "instructions")
        .column("far_faults", &R::far_faults, "faults", "pages of managed memory that faulted")
        .column("cycles", &R::cycles, "core cycles",
                "cycles of an SM, or of the tenant's CPU core, from arrival to end; with "
                "`arrivals:` from each arrival to the end of its round, summed")
        .column("instructions_per_cycle", &R::instructions_per_cycle, "instructions/cycle",
                "warp instructions, or instructions of the CPU core, over cycles")
        .column("rounds", &R::rounds, "rounds",
                "number of times that the tenant's program came to its end")
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
  Time duration;  ///< time from launch to completion, or to the end of the run
  std::uint64_t cycles = 0;
  GridCounts counts;
  /// Values of the `kernel:` metrics of metrics.json, from these counts.
  double kernel_instructions_per_cycle = 0, occupancy = 0, tensor_activity = 0, l1_hit_rate = 0,
         l2_hit_rate = 0, l1_tlb_hit_rate = 0, l2_tlb_hit_rate = 0, kernel_dram_bandwidth = 0,
         kernel_link_bandwidth = 0, cluster_occupancy = 0;

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
        .column("kernel", &R::kernel, "name", "name of the kernel in its module")
        .column("tenant", &R::tenant, "index", "tenant that launched the kernel")
        .optional_column("gpu", &R::gpu, "number", "number of the GPU; only with several GPUs")
        .column("stream", &R::stream, "number", "stream of the launch")
        .column("blocks_x", &R::blocks_x, "blocks", "size of the grid")
        .column("blocks_y", &R::blocks_y, "blocks", "size of the grid")
        .column("blocks_z", &R::blocks_z, "blocks", "size of the grid")
        .column("threads_x", &R::threads_x, "threads", "size of a block")
        .column("threads_y", &R::threads_y, "threads", "size of a block")
        .column("threads_z", &R::threads_z, "threads", "size of a block")
        .column("enqueued", &R::enqueued, "fs", "time at which the host program queued the launch")
        .column("launched", &R::launched, "fs", "time at which the launch was sent to the GPU")
        .column("done", &R::done, "fs",
                "time at which the host heard of the kernel's end; the largest value: never")
        .column("duration", &R::duration, "fs",
                "kernel time: from launched to done, or to the end of the run")
        .column("cycles", &R::cycles, "core cycles", "kernel time in core cycles")
        .column("active_cycles", &R::counts, &C::active_cycles, "cycles",
                "cycles in which an SM had at least one block of the kernel, summed over SMs")
        .column("warp_cycles", &R::counts, &C::warp_cycles, "warp cycles",
                "resident warps of the kernel, summed over the active cycles")
        .column("warp_instructions", &R::counts, &C::warp_instructions, "instructions",
                "instructions that were issued, counted per warp")
        .column("thread_instructions", &R::counts, &C::thread_instructions, "instructions",
                "instructions that were issued, counted per active thread")
        .column("issue_slots", &R::counts, &C::issue_slots, "slots",
                "cycles in which a scheduler issued an instruction of the kernel")
        .columns("stall_", stall_cause_names, &R::counts, &C::stalls, "slots",
                 "scheduler cycles in which nothing was issued, for this cause, as in "
                 "/stats/sm/stalls; a share is relative to all such cycles plus issue_slots")
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
        .column("cluster_cycles", &R::counts, &C::cluster_cycles, "cycles",
                "as /stats/hub/cluster_cycles")
        .column("cluster_place_cycles", &R::counts, &C::cluster_place_cycles, "cycles",
                "as /stats/hub/cluster_place_cycles")
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
                "bytes of the kernel's tenant over the host link during kernel time")
        .column("bytes_to_gpu", &R::counts, &C::bytes_to_gpu, "bytes",
                "bytes of the kernel's tenant over the host link during kernel time")
        .column("far_faults", &R::counts, &C::far_faults, "faults",
                "/stats/host/far_faults of its tenant while it ran")
        .column("kernel_instructions_per_cycle", &R::kernel_instructions_per_cycle,
                "instructions/cycle", "warp instructions over cycles of kernel time")
        .column("occupancy", &R::occupancy, "ratio",
                "warp_cycles, as a share of the warp places in active_cycles")
        .column("tensor_activity", &R::tensor_activity, "ratio",
                "tensor_cycles, as a share of the cycles of all tensor units in active_cycles")
        .column("l1_hit_rate", &R::l1_hit_rate, "ratio", "l1_hits over l1_hits, misses and merges")
        .column("l2_hit_rate", &R::l2_hit_rate, "ratio", "l2_hits over l2_hits and misses")
        .column("l1_tlb_hit_rate", &R::l1_tlb_hit_rate, "ratio",
                "l1_tlb_hits over l1_tlb_hits, misses and merges")
        .column("l2_tlb_hit_rate", &R::l2_tlb_hit_rate, "ratio",
                "l2_tlb_hits over l2_tlb_hits and misses")
        .column("kernel_dram_bandwidth", &R::kernel_dram_bandwidth, "bytes/s",
                "dram_reads and dram_writes, of 32 bytes, over kernel time")
        .column("kernel_link_bandwidth", &R::kernel_link_bandwidth, "bytes/s",
                "bytes_to_host and bytes_to_gpu over kernel time")
        .column("cluster_occupancy", &R::cluster_occupancy, "ratio",
                "cluster_cycles over cluster_place_cycles: clusters in GPCs that have any of the "
                "grid, of the most that find room there");
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
        .column("tenant", &R::tenant, "index", "tenant whose access faulted")
        .optional_column("gpu", &R::gpu, "number", "number of the GPU; only with several GPUs")
        .column("virtual_address", &R::virtual_address, "address",
                "address of the first page that moved")
        .column("pages", &R::pages, "pages", "pages of 4 KiB that came or changed")
        .column("position", &R::position, "granules",
                "number of older granules that were pending when the fault was found")
        .column("class", &R::kind, "",
                "migrate: data came over the host link; allocate: no data came")
        .column("handler", &R::handler, "", "host: the driver; local: the GPU by itself")
        .column("found", &R::found, "fs", "time at which the GMMU found the page absent")
        .column("arrived", &R::arrived, "fs",
                "time at which the driver got the fault (found to arrived: hop)")
        .column(
            "served", &R::served, "fs",
            "time at which the driver had handled the fault (arrived to served: queue and service)")
        .column("mapped", &R::mapped, "fs",
                "time at which the GMMU was told to replay (served to mapped: frames, transfer, "
                "entries); the largest value: never");
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
        .column("block", &R::block, "number", "number of the block in the grid, x fastest")
        .optional_column("gpu", &R::gpu, "number", "number of the GPU; only with several GPUs")
        .column("sm", &R::sm, "index",
                "SM on which the block ran; a block that waited in memory: SM to which it returned")
        .column("started", &R::started, "fs", "time at which the block took its place")
        .column("done", &R::done, "fs",
                "time at which the block left its place for good; the largest value: never");
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
        .column("tenant", &R::tenant, "index", "tenant of the program")
        .column("arrival", &R::arrival, "fs", "time at which the program was to start")
        .column("began", &R::began, "fs",
                "time at which the program started: the start before had ended, and memory had "
                "room for the buffers")
        .column("ended", &R::ended, "fs",
                "time at which the program ended; the largest value: never")
        .column("deadline", &R::deadline, "fs",
                "time by which the program was to end; the largest value: no deadline")
        .column("met", &R::met, "",
                "whether the deadline was met: yes, no, or - without a deadline");
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
                "row of /kernels: the kernel that got the place; the block's own kernel: the block "
                "left because of a signal")
        .column("grid", &R::grid, "row", "row of /kernels: the kernel of the block")
        .column("block", &R::block, "number", "number of the block in the grid, x fastest")
        .optional_column("gpu", &R::gpu, "number", "number of the GPU; only with several GPUs")
        .column("sm", &R::sm, "index", "SM on which the block ran")
        .column("technique", &R::technique, "",
                "drain: the block ran to its end; switch: its context went to memory; flush: the "
                "block was dropped and starts again")
        .column("asked", &R::asked, "fs", "time at which the dispatcher began to take the SM")
        .column("stopped", &R::stopped, "fs",
                "for a switched block, the time at which its last access in flight was answered; "
                "for other blocks the same as released")
        .column("released", &R::released, "fs",
                "time at which the dispatcher heard that the block's place is free")
        .column("returned", &R::returned, "fs",
                "time at which the block had a place again, to go on or to start again; the "
                "largest value: it never had one, or it had run to its end")
        .column(
            "bound", &R::bound, "fs",
            "latency_bound of the urgent tenant, counted from asked; the largest value: no bound")
        .column("kept", &R::kept, "", "whether the bound was kept: yes, no, or - without a bound")
        .column("expected", &R::expected, "fs",
                "estimate, at the decision, of the time until the place is free; the largest "
                "value: no estimate")
        .column("expected_loss", &R::expected_loss, "instructions",
                "estimate, at the decision, of the warp instructions that are lost")
        .column("predictor", &R::predictor, "",
                "source of the cycles per instruction in the estimate of a drain: the block's own, "
                "or those of finished blocks; or -")
        .column("executed", &R::executed, "instructions",
                "warp instructions of the block before the decision; 0 without an estimate")
        .column(
            "cycles", &R::cycles, "cycles",
            "SM cycles that the block had been on chip before the decision; 0 without an estimate")
        .column(
            "idempotent", &R::idempotent, "",
            "1: the block could still have been flushed; 0: it could not, or there was no estimate")
        .column(
            "ended_by", &R::ended_by, "line",
            "line of the PTX text of the instruction after which the block could not be flushed; "
            "0: it could be flushed, or it had executed that instruction on another SM")
        .column("faulted", &R::faulted, "",
                "1: the block waited for a page; 0: it did not, or there was no estimate")
        .column("lost", &R::lost, "instructions", "warp instructions of a flushed block")
        .column("bytes", &R::bytes, "bytes", "bytes of the context of a switched block")
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
    return table<R>("/run/profile/components",
                    "with `--profile`: cost of each component, of all ranks; `--weights` reads "
                    "this table")
        .column("component", &R::component, "name", "kind and index")
        .column("nanoseconds", &R::nanoseconds, "ns",
                "time of the component's threads in all windows");
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
        .column("nanoseconds", &R::nanoseconds, "ns",
                "time of the component's thread in the window")
        .column("windows", &R::windows, "windows",
                "number of windows for which the row is a sample, itself included");
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
        .column("rank", &R::rank, "number", "number of the MPI rank")
        .column("window", &R::window, "number",
                "number of the window, counted by each rank for itself")
        .column("working", &R::working, "ns", "time in components, copying of messages included")
        .column("synchronising", &R::synchronising, "ns", "time for opening and closing the window")
        .column("exchanging", &R::exchanging, "ns",
                "time for exchanging messages with other ranks before the window")
        .column("waiting", &R::waiting, "ns", "time spent waiting for slower threads and ranks");
  }
};

/// A row of /run/profile/ranks.
struct RankRow {
  std::uint32_t rank = 0;
  double wall = 0, working = 0, synchronising = 0, exchanging = 0, waiting = 0, other = 0;
  double sampling = 0, windows_apart = 1, flushing = 0, full_flushes = 0;
  std::uint32_t flushes = 0;

  static auto schema() {
    using R = RankRow;
    return table<R>("/run/profile/ranks",
                    "with `--profile`: where the time of each rank went, a mean over its threads")
        .column("rank", &R::rank, "number", "number of the MPI rank")
        .column("wall", &R::wall, "s", "real time of the simulation loop")
        .column("working", &R::working, "s", "time in components")
        .column("synchronising", &R::synchronising, "s",
                "time for opening and closing windows, and for copying of messages")
        .column("exchanging", &R::exchanging, "s", "time for exchanging messages with other ranks")
        .column("waiting", &R::waiting, "s", "time spent waiting for slower threads and ranks")
        .column("other", &R::other, "s",
                "time for recording epochs: sampling components and writing what they have counted")
        .optional_column(
            "sampling", &R::sampling, "s",
            "part of `other`: time for sampling the rank's own components, summed over its "
            "threads")
        .optional_column("windows_apart", &R::windows_apart, "windows",
                         "windows between two meetings of ranks that have whole GPUs; 1: one GPU, "
                         "or several ranks")
        .optional_column(
            "flushing", &R::flushing, "s",
            "part of `other`: time for writing rows to the file, twice a second at most")
        .optional_column("flushes", &R::flushes, "number", "how often rows were written")
        .optional_column("full_flushes", &R::full_flushes, "number",
                         "how often rows must be written because there is no more room for them");
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
        .column("speedup", &R::speedup, "ratio", "speed over the speed of one worker");
  }
};

}  // namespace lockstep
