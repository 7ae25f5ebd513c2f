#pragma once

#include <array>
#include <cstddef>

#include "core/memory/cache_aligned.hpp"
#include "core/memory/warm.hpp"
#include "core/statistics/statistics.hpp"
#include "models/noc/grid_counts.hpp"
#include "models/sm/parameters/stall_cause.hpp"

namespace lockstep {

struct SmStatistics {
  /// Parts of contexts, in bytes.
  enum ContextPart : std::uint8_t {
    registers_occupied,
    registers_live,
    registers_saved,
    shared_saved,
    control_saved,
    kept,
    context_part_count
  };
  /// Where a saved warp stands.
  enum WarpStop : std::uint8_t {
    at_fault,
    at_barrier,
    at_barrier_point,
    at_point,
    asleep,
    elsewhere,
    warp_stop_count
  };
  /// Counters of one tenant, side by side.  Counters of nearly every window come first.
  struct alignas(cache_line_bytes) OfTenant {
    Counter memory_instructions, l1_accesses, sectors_requested, stores_sent;
    // Others: see warm_hot.
    std::array<Counter, stall_causes> stalls;
    Counter l1_hits, l1_misses, l1_merges, tlb_hits, shared_accesses, shared_conflict_cycles,
        branches, barriers;
    Counter tlb_lookups, tlb_misses, tlb_merges, tlb_refusals;
    Counter warp_instructions, thread_instructions, active_cycles, blocks, warp_cycles;
    Counter issue_slots, l1_bypasses, atomics_sent, local_writebacks, async_copy_bytes;
    Counter bulk_copies, bulk_lines, bulk_bytes;
    Counter divergent_branches, fences;
    Counter remote_accesses, remote_bytes, cluster_barriers, cluster_wait_cycles;
    std::array<Counter, isa::matrix_types> matrix_instructions;
    Counter tensor_cycles, matrix_wavefronts;
    Counter tlb_flush_misses, tlb_stall_cycles, fault_page_cycles, fault_warp_cycles;
    Counter pages_shot_down, tlb_shot_down, tlb_flushed;
    Counter last_checks, last_check_cycles, squashed_instructions, reissued_instructions;
    Counter logged_entries;
    Counter gpc_tlb_hits, code_misses, code_requests, constant_misses, constant_requests;
    Counter fault_notices, kept_for_near_faults, kept_for_want_of_others;
    Counter blocks_flushed, flushed_instructions;
    Counter blocks_saved, blocks_restored, context_bytes_saved, context_bytes_restored;
    Counter block_stop_cycles, context_move_cycles;
    Counter context_lines, context_port_stalls;
    std::array<Counter, 2> points_passed;
    std::array<Counter, context_part_count> context_parts;
    std::array<Counter, 4> context_registers;
    std::array<Counter, warp_stop_count> context_stops;
    std::array<Counter, 6> context_block_registers;
    Histogram<8> fault_positions;
    Histogram<10> last_check_latency;
    Histogram<20> block_stops;
    Gauge resident_warps, resident_blocks, blocks_in_memory, blocks_to_return;

    /// Counts for one grid of the tenant.
    OfTenant& operator+=(const GridCounts& grid);
  };
  Counter l1_reservation_stall_cycles, port_wait_cycles;
  // Counters that nearly every window touches.
  PerTenant<OfTenant> tenant;
  Counter skipped_cycles, skips, l1_evictions;

  /// Brings the counters that nearly every window touches into the cache.
  void warm_hot() const {
    const auto* begin = reinterpret_cast<const std::byte*>(&tenant);
    warm(begin, static_cast<std::size_t>(reinterpret_cast<const std::byte*>(this + 1) - begin));
    warm(&tenant[0], offsetof(OfTenant, stalls));
  }

  static auto schema() {
    using S = SmStatistics;
    using T = OfTenant;
    return statistics<S>()
        .per_tenant("warp_instructions", &S::tenant, &T::warp_instructions, "instructions",
                    "instructions that were issued, counted per warp; an instruction that hardware "
                    "expands counts as "
                    "often as it issues")
        .per_tenant("thread_instructions", &S::tenant, &T::thread_instructions, "instructions",
                    "instructions that were issued, counted per active thread")
        .per_tenant("active_cycles", &S::tenant, &T::active_cycles, "cycles",
                    "cycles in which the tenant had at least one block here")
        .per_tenant("warp_cycles", &S::tenant, &T::warp_cycles, "warp cycles",
                    "resident warps of the tenant, summed over its cycles: occupancy")
        .per_tenant("blocks", &S::tenant, &T::blocks, "blocks", "thread blocks finished here")
        .per_tenant("issue_slots", &S::tenant, &T::issue_slots, "slots",
                    "scheduler cycles that issued an instruction")
        .per_tenant("stalls", &S::tenant, &T::stalls, stall_cause_names, "slots",
                    "scheduler cycles that issued nothing, by cause")
        .per_tenant("memory_instructions", &S::tenant, &T::memory_instructions, "instructions",
                    "loads, stores and atomics to global and local memory")
        .per_tenant("l1_accesses", &S::tenant, &T::l1_accesses, "lines", "tag lookups")
        .per_tenant("l1_hits", &S::tenant, &T::l1_hits, "lines", "loads with all sectors present")
        .per_tenant("l1_misses", &S::tenant, &T::l1_misses, "lines", "loads that asked L2")
        .per_tenant("l1_merges", &S::tenant, &T::l1_merges, "lines",
                    "loads that joined an outstanding miss")
        .per_tenant("l1_bypasses", &S::tenant, &T::l1_bypasses, "lines",
                    "loads that must not use L1")
        .per_tenant("sectors_requested", &S::tenant, &T::sectors_requested, "sectors",
                    "sectors asked of L2 or host")
        .per_tenant("stores_sent", &S::tenant, &T::stores_sent, "requests", "stores to L2 or host")
        .per_tenant("atomics_sent", &S::tenant, &T::atomics_sent, "requests",
                    "atomics to L2 or host")
        .per_tenant("async_copy_bytes", &S::tenant, &T::async_copy_bytes, "bytes",
                    "bytes that asynchronous copies read from global memory")
        .per_tenant("bulk_copies", &S::tenant, &T::bulk_copies, "copies",
                    "copies that the bulk engine has begun")
        .per_tenant("bulk_lines", &S::tenant, &T::bulk_lines, "lines",
                    "lines that the bulk engine has asked for or stored")
        .per_tenant("bulk_bytes", &S::tenant, &T::bulk_bytes, "bytes",
                    "bytes that bulk copies were to move, prefetches among them")
        .per_tenant("matrix_instructions", &S::tenant, &T::matrix_instructions,
                    isa::matrix_type_names, "instructions",
                    "matrix products (mma and wmma.mma), by the type of their factors")
        .per_tenant(
            "tensor_cycles", &S::tenant, &T::tensor_cycles, "unit cycles",
            "cycles in which tensor units were busy with matrix instructions, summed over units")
        .per_tenant("matrix_wavefronts", &S::tenant, &T::matrix_wavefronts, "cycles",
                    "cycles of shared memory's banks for ldmatrix and stmatrix")
        .per_tenant("local_writebacks", &S::tenant, &T::local_writebacks, "requests",
                    "evicted dirty local lines")
        .per_tenant("shared_accesses", &S::tenant, &T::shared_accesses, "instructions",
                    "loads, stores and atomics to shared memory")
        .per_tenant("shared_conflict_cycles", &S::tenant, &T::shared_conflict_cycles, "cycles",
                    "cycles in which shared memory was busy with an instruction beyond the "
                    "instruction's first cycle")
        .per_tenant("branches", &S::tenant, &T::branches, "instructions",
                    "branches, calls and returns")
        .per_tenant("divergent_branches", &S::tenant, &T::divergent_branches, "instructions",
                    "branches whose lanes went different ways")
        .per_tenant("barriers", &S::tenant, &T::barriers, "instructions",
                    "barrier arrivals of warps")
        .per_tenant("fences", &S::tenant, &T::fences, "instructions",
                    "fences of gpu or system scope")
        .per_tenant("remote_accesses", &S::tenant, &T::remote_accesses, "messages",
                    "messages to shared memory of other blocks of a cluster")
        .per_tenant("remote_bytes", &S::tenant, &T::remote_bytes, "bytes",
                    "bytes that remote accesses read or wrote in the other block")
        .per_tenant("cluster_barriers", &S::tenant, &T::cluster_barriers, "barriers",
                    "barriers of clusters that blocks here have passed, each block for itself")
        .per_tenant("cluster_wait_cycles", &S::tenant, &T::cluster_wait_cycles, "warp cycles",
                    "cycles in which warps waited at barriers of clusters, summed over warps")
        .per_tenant("tlb_lookups", &S::tenant, &T::tlb_lookups, "lines",
                    "lines of global memory that were looked up in the L1 TLB")
        .per_tenant("tlb_hits", &S::tenant, &T::tlb_hits, "lines",
                    "lines whose page was in the L1 TLB")
        .per_tenant("tlb_misses", &S::tenant, &T::tlb_misses, "lines", "lines that asked the GMMU")
        .per_tenant("tlb_flush_misses", &S::tenant, &T::tlb_flush_misses, "lines",
                    "lines of tlb_misses whose page was in the TLB until it was flushed")
        .per_tenant("tlb_merges", &S::tenant, &T::tlb_merges, "lines",
                    "lines whose page was asked for already")
        .per_tenant("tlb_refusals", &S::tenant, &T::tlb_refusals, "pages",
                    "requests of pages that the GMMU refused: the page was not in GPU memory, or "
                    "must not be written")
        .per_tenant("tlb_stall_cycles", &S::tenant, &T::tlb_stall_cycles, "cycles",
                    "cycles in which the load-store unit waited for a translation, or for a place "
                    "to park an access")
        .per_tenant("fault_page_cycles", &S::tenant, &T::fault_page_cycles, "page cycles",
                    "cycles between refusal and translation, summed over pages")
        .per_tenant("fault_warp_cycles", &S::tenant, &T::fault_warp_cycles, "warp cycles",
                    "cycles for which warps had lines that waited for refused pages, summed over "
                    "warps: divided by the cycles, the mean number of such warps")
        .per_tenant("pages_shot_down", &S::tenant, &T::pages_shot_down, "pages",
                    "pages that a shootdown named, in the TLB or not")
        .per_tenant("tlb_shot_down", &S::tenant, &T::tlb_shot_down, "entries",
                    "entries dropped by shootdowns")
        .per_tenant("tlb_flushed", &S::tenant, &T::tlb_flushed, "entries",
                    "entries dropped when other pages came or went")
        .per_tenant("last_checks", &S::tenant, &T::last_checks, "instructions",
                    "memory instructions that could fault no more (preemptible schemes)")
        .per_tenant("last_check_cycles", &S::tenant, &T::last_check_cycles, "cycles",
                    "cycles from the issue of memory instructions to their last check, summed")
        .per_tenant("last_check_latency", &S::tenant, &T::last_check_latency, "instructions",
                    "memory instructions by the cycles from issue to their last check")
        .per_tenant("squashed_instructions", &S::tenant, &T::squashed_instructions, "instructions",
                    "instructions squashed by faults; one that is squashed again counts again")
        .per_tenant("reissued_instructions", &S::tenant, &T::reissued_instructions, "instructions",
                    "instructions issued again after a fault; not among warp_instructions")
        .per_tenant("logged_entries", &S::tenant, &T::logged_entries, "entries",
                    "entries written to the operand log")
        .per_tenant("fault_notices", &S::tenant, &T::fault_notices, "faults",
                    "faults of which the scheduler of blocks was told (block switching), once per "
                    "instruction and page")
        .per_tenant("kept_for_near_faults", &S::tenant, &T::kept_for_near_faults, "faults",
                    "faults of fault_notices with no more than the threshold pending before them")
        .per_tenant(
            "kept_for_want_of_others", &S::tenant, &T::kept_for_want_of_others, "faults",
            "faults of fault_notices beyond the threshold for which no block could take the place")
        .per_tenant("blocks_flushed", &S::tenant, &T::blocks_flushed, "blocks",
                    "blocks dropped for a more urgent tenant, to start again")
        .per_tenant("flushed_instructions", &S::tenant, &T::flushed_instructions, "instructions",
                    "warp instructions that flushed blocks had executed, in vain")
        .per_tenant("blocks_saved", &S::tenant, &T::blocks_saved, "blocks",
                    "blocks that left the SM with their contexts in memory, to return later")
        .per_tenant("blocks_restored", &S::tenant, &T::blocks_restored, "blocks",
                    "saved blocks that returned")
        .per_tenant("context_bytes_saved", &S::tenant, &T::context_bytes_saved, "bytes",
                    "bytes of contexts that left")
        .per_tenant("context_bytes_restored", &S::tenant, &T::context_bytes_restored, "bytes",
                    "bytes of contexts that returned")
        .per_tenant(
            "block_stop_cycles", &S::tenant, &T::block_stop_cycles, "block cycles",
            "cycles from the decision that a block leaves until nothing of it is in flight, summed")
        .per_tenant("block_stops", &S::tenant, &T::block_stops, "blocks",
                    "blocks by the time of block_stop_cycles")
        .per_tenant("context_move_cycles", &S::tenant, &T::context_move_cycles, "block cycles",
                    "time for which contexts waited to move or moved, summed")
        .per_tenant("context_lines", &S::tenant, &T::context_lines, "lines",
                    "lines of contexts that were stored or loaded, and so cycles in which contexts "
                    "used the port")
        .per_tenant("context_port_stalls", &S::tenant, &T::context_port_stalls, "cycles",
                    "cycles in which a line could have left, but the port was busy with other "
                    "requests or could not send")
        .per_tenant("points_passed", &S::tenant, &T::points_passed, {"point", "barrier_point"},
                    "instructions",
                    "preemption points that warps executed; a point that is no barrier takes an "
                    "issue slot of its own")
        .per_tenant("context_parts", &S::tenant, &T::context_parts,
                    {"registers_occupied", "registers_live", "registers_saved", "shared", "control",
                     "kept"},
                    "bytes",
                    "bytes of blocks that stopped to be saved: their registers in the register "
                    "file, the registers that their warps need again, registers, shared memory and "
                    "control state in contexts, and the bytes that stay on chip")
        .per_tenant(
            "context_registers", &S::tenant, &T::context_registers,
            {"dead", "uniform", "random", "strided"}, "registers",
            "registers of warps in compressed contexts, by the class that the compressor found")
        .per_tenant("context_block_registers", &S::tenant, &T::context_block_registers,
                    {"dead", "random", "local_uniform", "local_strided", "global_uniform",
                     "global_strided"},
                    "registers",
                    "registers of blocks in contexts that are compressed over the block")
        .per_tenant("context_stops", &S::tenant, &T::context_stops,
                    {"fault", "barrier", "barrier_point", "point", "asleep", "elsewhere"}, "warps",
                    "warps of blocks that stopped to be saved, by the place where they stopped: "
                    "with a squashed access, waiting at a barrier or for other lanes, in front of "
                    "preemption points (002, section IV.A), in a nanosleep")
        .per_tenant("fault_positions", &S::tenant, &T::fault_positions, "faults",
                    "faults of fault_notices by the granules that were pending before them")
        .per_tenant("gpc_tlb_hits", &S::tenant, &T::gpc_tlb_hits, "lookups",
                    "hits of tlb_hits in the TLB of the GPC, on pages that the L1 TLB lacked")
        .per_tenant("code_misses", &S::tenant, &T::code_misses, "lines",
                    "instructions that a warp needed and a scheduler's instruction cache lacked")
        .per_tenant("code_requests", &S::tenant, &T::code_requests, "requests",
                    "lines of instructions asked of L2, also ahead of warps")
        .per_tenant("constant_misses", &S::tenant, &T::constant_misses, "lines",
                    "lines that a load needed and the first constant cache lacked")
        .per_tenant("constant_requests", &S::tenant, &T::constant_requests, "requests",
                    "lines of constants and parameters asked of L2")
        .counter("l1_evictions", &S::l1_evictions, "lines", "valid lines replaced")
        .counter("l1_reservation_stall_cycles", &S::l1_reservation_stall_cycles, "cycles",
                 "cycles in which the load-store unit waited for a miss entry, a line or the "
                 "request queue")
        .counter("port_wait_cycles", &S::port_wait_cycles, "cycles",
                 "time for which requests waited for the injection port, summed")
        .counter("skipped_cycles", &S::skipped_cycles, "cycles",
                 "idle cycles that the simulator passed over at once")
        .counter("skips", &S::skips, "skips", "gaps of skipped_cycles that began")
        .per_tenant("resident_warps", &S::tenant, &T::resident_warps, "warps",
                    "warps of resident blocks")
        .per_tenant("resident_blocks", &S::tenant, &T::resident_blocks, "blocks",
                    "blocks in their slots")
        .per_tenant("blocks_in_memory", &S::tenant, &T::blocks_in_memory, "blocks",
                    "blocks whose contexts stand in memory or move")
        .per_tenant("blocks_to_return", &S::tenant, &T::blocks_to_return, "blocks",
                    "saved blocks whose pages have come and that wait for a place");
  }
};

inline SmStatistics::OfTenant& SmStatistics::OfTenant::operator+=(const GridCounts& grid) {
  issue_slots += grid.issue_slots;
  warp_instructions += grid.warp_instructions;
  thread_instructions += grid.thread_instructions;
  for (std::size_t cause = 0; cause < stall_causes; ++cause) stalls[cause] += grid.stalls[cause];
  l1_hits += grid.l1_hits;
  l1_misses += grid.l1_misses;
  l1_merges += grid.l1_merges;
  tlb_hits += grid.l1_tlb_hits;
  tlb_misses += grid.l1_tlb_misses;
  tlb_merges += grid.l1_tlb_merges;
  for (std::size_t type = 0; type < isa::matrix_types; ++type)
    matrix_instructions[type] += grid.matrix_instructions[type];
  tensor_cycles += grid.tensor_cycles;
  matrix_wavefronts += grid.matrix_wavefronts;
  async_copy_bytes += grid.async_copy_bytes;
  bulk_copies += grid.bulk_copies;
  bulk_lines += grid.bulk_lines;
  bulk_bytes += grid.bulk_bytes;
  remote_accesses += grid.remote_accesses;
  remote_bytes += grid.remote_bytes;
  cluster_barriers += grid.cluster_barriers;
  cluster_wait_cycles += grid.cluster_wait_cycles;
  return *this;
}

}  // namespace lockstep
