#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/isa/divergence.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/parameters/occupancy.hpp"
#include "models/sm/parameters/placement.hpp"
#include "models/sm/parameters/sm_choices.hpp"
#include "models/sm/parameters/unit_parameters.hpp"

namespace lockstep {

/// Shared memory, and the storage it may share with L1.  Source: gpu-parameters.md, section 7.
struct SmSharedParameters {
  Bytes bytes, bytes_per_block, unit;
  std::uint32_t banks;
  bool packed_returns;
  Cycles latency;
  std::vector<Bytes> carve_outs;

  static auto schema() {
    using namespace literals;
    using P = SmSharedParameters;
    return parameters<P>()
        .field("bytes", &P::bytes, 96_KiB, range(1_KiB, 4_MiB), "shared memory for all blocks")
        .field("bytes_per_block", &P::bytes_per_block, 96_KiB, range(1_KiB, 4_MiB),
               "most shared memory of one block")
        .field("unit", &P::unit, 256_B, range(1_B, 4_KiB), "allocation granularity")
        .field("banks", &P::banks, 32, range(1, 32).powers_of_two(), "banks of 4 bytes")
        .field("packed_returns", &P::packed_returns, false,
               "loads of 8 and 16 bytes take half as long when neighbouring lanes read the same "
               "address")
        .field("latency", &P::latency, 24_cycles, range(1_cycles, 1000_cycles),
               "cycles from issue to a dependent's issue, without bank conflicts")
        .field("carve_outs", &P::carve_outs, {0_KiB, 8_KiB, 16_KiB, 32_KiB, 64_KiB, 96_KiB},
               range(0_B, 4_MiB), "sizes that shared memory can take of the unified storage");
  }
};

enum class L1Allocation : std::uint8_t { on_miss, on_fill };
enum class L1Fetch : std::uint8_t { sectors, line };
enum class L1WritePolicy : std::uint8_t { write_through, write_evict };
enum class L1SetIndex : std::uint8_t { folded, scattered };
enum class L1Recency : std::uint8_t { hits, tags };

/// Source: gpu-parameters.md, section 7.
struct SmL1Parameters {
  Bytes bytes, unified_bytes;
  std::uint32_t sets, mshrs, merges, lines_per_cycle, texture_lines_per_cycle;
  Cycles hit_latency, fill_latency;
  L1Allocation allocation;
  L1Fetch fetch;
  L1WritePolicy global_writes;
  bool caches_global_loads, allocates_stores, banked, tag_banks;
  L1SetIndex set_index;
  L1Recency recency;

  static auto schema() {
    using namespace literals;
    using P = SmL1Parameters;
    return parameters<P>()
        .field("bytes", &P::bytes, 32_KiB, range(1_KiB, 4_MiB),
               "capacity where L1 has its own storage")
        .field("unified_bytes", &P::unified_bytes, 128_KiB, range(0_B, 4_MiB),
               "storage that L1 shares with shared memory; 0: L1 has its own")
        .field("sets", &P::sets, 4, range(1, 4096).powers_of_two(), "sets of 128-byte lines")
        .field("set_index", &P::set_index, L1SetIndex::folded, choice({"folded", "scattered"}),
               "how an address chooses its set: XOR of its parts, or a hash that fills sets "
               "unevenly, so that data slightly larger than the capacity still hit in part")
        .field("recency", &P::recency, L1Recency::hits, choice({"hits", "tags"}),
               "loads that make a line the youngest of its set: those that find all their sectors, "
               "or also those that find the tag but lack sectors")
        .field("mshrs", &P::mshrs, 256, range(1, 4096), "outstanding missed lines")
        .field("merges", &P::merges, 8, range(1, 64), "accesses that wait for one missed line")
        .field("lines_per_cycle", &P::lines_per_cycle, 1, range(1, 4), "tag lookups per cycle")
        .field(
            "texture_lines_per_cycle", &P::texture_lines_per_cycle, 0, range(0, 4),
            "tag lookups per cycle of a texture fetch, whatever their banks; 0: as for other loads",
            "lines")
        .field("banked", &P::banked, false,
               "32 banks of 4 bytes behind the tags: an instruction takes as many cycles as it "
               "reads words of the fullest bank")
        .field("tag_banks", &P::tag_banks, false,
               "the tags of an instruction stand in lines_per_cycle banks, chosen by XOR of "
               "address parts, and each bank compares one tag in a cycle; false: any "
               "lines_per_cycle tags are compared in a cycle, each once for every group of eight "
               "lanes that use its line (if banked)")
        .field("hit_latency", &P::hit_latency, 28_cycles, range(1_cycles, 1000_cycles),
               "time from issue to a dependent's issue on a hit")
        .field("fill_latency", &P::fill_latency, 8_cycles, range(1_cycles, 1000_cycles),
               "time from the last byte of an answer to a dependent's issue")
        .field("allocation", &P::allocation, L1Allocation::on_fill, choice({"on-miss", "on-fill"}),
               "when a missed line gets its place; on-fill never blocks a miss")
        .field("fetch", &P::fetch, L1Fetch::sectors, choice({"sectors", "line"}),
               "sectors that a miss of a global load reads: those that it needs, or all that its "
               "line lacks, as on Fermi")
        .field("global_writes", &P::global_writes, L1WritePolicy::write_through,
               choice({"write-through", "write-evict"}),
               "what a store does to a cached sector: update or drop it; in both cases the store "
               "goes to L2")
        .field("allocates_stores", &P::allocates_stores, false,
               "a store of a whole sector that is not cached puts it into L1")
        .field("caches_global_loads", &P::caches_global_loads, true,
               "false: global loads bypass L1, as on Kepler and Pascal")
        .only_if("texture_lines_per_cycle", "with tag_banks: true",
                 [](const P& p) { return p.tag_banks; })
        .only_if("bytes", "with unified_bytes: 0",
                 [](const P& p) { return p.unified_bytes.count() == 0; })
        .only_if("allocates_stores", "with global_writes: write-through",
                 [](const P& p) { return p.global_writes == L1WritePolicy::write_through; })
        .check([](const P& p) {
          if (p.tag_banks && !std::has_single_bit(p.lines_per_cycle))
            return "tag_banks with lines_per_cycle: " + std::to_string(p.lines_per_cycle) +
                   " - make the latter 1, 2 or 4";
          return p.unified_bytes.count() > 0 ? std::string() : p.misfit(p.bytes.count(), "bytes");
        });
  }

  /// Returns the reason why a capacity of `capacity` bytes, called `name` in the text, is wrong; ""
  /// if it is right.
  std::string misfit(std::uint64_t capacity, const std::string& name) const {
    const std::uint64_t step = std::uint64_t{sets} * line_bytes;
    if (capacity > 0 && capacity % step == 0) return "";
    return name + " (" + std::to_string(capacity) + ") are no multiple of the " +
           std::to_string(sets) + " sets of 128-byte lines - make them one of " +
           std::to_string(step) + ", or choose other sets";
  }
};

/// The SM's end of the network; flits, clock and credits are those of `noc`.
struct SmPortParameters {
  std::uint32_t queue;
  Cycles injection_latency;

  static auto schema() {
    using namespace literals;
    using P = SmPortParameters;
    return parameters<P>()
        .field("queue", &P::queue, 64, range(1, 4096),
               "requests that wait for a credit before the load-store unit stops", "requests")
        .field("injection_latency", &P::injection_latency, 10_cycles, range(0_cycles, 1000_cycles),
               "cycles from issue to the earliest departure: operand read, address, tags");
  }
};

/// Instructions on their way to the warps; sizes of Volta: Jia et al. 2018.
struct SmInstructionCacheParameters {
  Bytes l0_bytes, l1_bytes, instruction_bytes;
  std::uint32_t l0_ways, l1_ways, ahead;
  Cycles l1_latency;

  static auto schema() {
    using namespace literals;
    using P = SmInstructionCacheParameters;
    return parameters<P>()
        .field("l0_bytes", &P::l0_bytes, 0_B, range(0_B, 1_MiB),
               "instruction cache of each scheduler; 0: every fetch hits")
        .field("l0_ways", &P::l0_ways, 4, range(1, 64), "lines of 128 B in a set of that cache",
               "lines")
        .field("l1_bytes", &P::l1_bytes, 128_KiB, range(1_KiB, 4_MiB),
               "instruction cache of the SM behind the caches of its schedulers")
        .field("l1_ways", &P::l1_ways, 16, range(1, 64), "lines in a set of that cache", "lines")
        .field("l1_latency", &P::l1_latency, 53_cycles, range(1_cycles, 1000_cycles),
               "latency of a line that only the SM's instruction cache has")
        .field("ahead", &P::ahead, 8, range(0, 32), "lines that are fetched ahead of a warp",
               "lines")
        .field("instruction_bytes", &P::instruction_bytes, 16_B, range(4_B, 32_B),
               "bytes of one instruction")
        .only_if("l0_ways l1_bytes l1_ways l1_latency ahead instruction_bytes",
                 "with l0_bytes above 0", [](const P& p) { return p.on(); })
        .check([](const P& p) {
          std::string text = p.on() ? misfit("l0", p.l0_bytes.count(), p.l0_ways, line_bytes) : "";
          return text.empty() ? misfit("l1", p.l1_bytes.count(), p.l1_ways, line_bytes) : text;
        });
  }
  bool on() const { return l0_bytes.count() > 0; }

  /// Returns the reason why a cache of whole sets, called `name` in the parameters, is wrong; "" if
  /// it is right.
  static std::string misfit(const std::string& name, std::uint64_t bytes, std::uint32_t ways,
                            std::uint64_t bytes_of_line) {
    if (bytes > 0 && bytes % (ways * bytes_of_line) == 0) return "";
    return name + "_bytes (" + std::to_string(bytes) + ") are no multiple of a set's " +
           std::to_string(ways * bytes_of_line) + " - make them one, or change " + name + "_ways";
  }
};

/// Constants and parameters of kernels on their way; sizes of Volta: Jia et al. 2018.
struct SmConstantCacheParameters {
  static constexpr std::uint64_t bytes_of_line = 64;
  Bytes l0_bytes, l1_bytes;
  std::uint32_t l0_ways, l1_ways;
  Cycles l1_latency;

  static auto schema() {
    using namespace literals;
    using P = SmConstantCacheParameters;
    return parameters<P>()
        .field("l0_bytes", &P::l0_bytes, 0_B, range(0_B, 1_MiB),
               "first constant cache; 0: every load hits, and a grid's parameters are in the SM")
        .field("l0_ways", &P::l0_ways, 4, range(1, 64), "lines of 64 bytes in a set of that cache",
               "lines")
        .field("l1_bytes", &P::l1_bytes, 64_KiB, range(1_KiB, 4_MiB),
               "constant cache behind the first one")
        .field("l1_ways", &P::l1_ways, 8, range(1, 64), "lines in a set of that cache", "lines")
        .field("l1_latency", &P::l1_latency, 53_cycles, range(1_cycles, 1000_cycles),
               "latency beyond constant_latency of a line that only the second constant cache has")
        .only_if("l0_ways l1_bytes l1_ways l1_latency", "with l0_bytes above 0",
                 [](const P& p) { return p.on(); })
        .check([](const P& p) {
          const auto misfit = SmInstructionCacheParameters::misfit;
          std::string text =
              p.on() ? misfit("l0", p.l0_bytes.count(), p.l0_ways, bytes_of_line) : "";
          return text.empty() ? misfit("l1", p.l1_bytes.count(), p.l1_ways, bytes_of_line) : text;
        });
  }
  bool on() const { return l0_bytes.count() > 0; }
};

/// Engine that copies many bytes between global and shared memory (Hopper's TMA).  Source:
/// modern-isa.md, sections 4.2 and 5.6.
struct SmBulkParameters {
  std::uint32_t lines_in_flight, lines_per_cycle, queue, map_entries;
  Cycles start_latency, start_interval, map_latency;

  static auto schema() {
    using namespace literals;
    using P = SmBulkParameters;
    return parameters<P>()
        .field("lines_in_flight", &P::lines_in_flight, 0, range(0, 4096),
               "128-byte lines that the engine for bulk copies has asked for at a time; 0: the SM "
               "has no such engine, and no transactions of mbarriers",
               "lines")
        .field("lines_per_cycle", &P::lines_per_cycle, 1, range(1, 4),
               "lines that the engine for bulk copies asks for in a cycle", "lines")
        .field("queue", &P::queue, 16, range(1, 1024),
               "copies that wait for the engine or are under way", "copies")
        .field("start_latency", &P::start_latency, 35_cycles, range(1_cycles, 10000_cycles),
               "latency from the issue of a bulk copy to its first line")
        .field("start_interval", &P::start_interval, 32_cycles, range(1_cycles, 10000_cycles),
               "cycles between the first lines of two bulk copies")
        .field("map_entries", &P::map_entries, 16, range(1, 1024),
               "tensor maps that the engine keeps", "maps")
        .field("map_latency", &P::map_latency, 200_cycles, range(0_cycles, 10000_cycles),
               "latency of a tensor map among parameters or constants that the engine does not "
               "keep; it loads one in global memory")
        .only_if("lines_per_cycle queue start_latency start_interval map_entries map_latency",
                 "with lines_in_flight above 0", [](const P& p) { return p.on(); });
  }
  bool on() const { return lines_in_flight > 0; }
};

/// Products of warp groups.  Source: modern-isa.md, section 4.1 (H100).
struct SmWarpgroupParameters {
  std::uint32_t queue, operand_bytes_per_cycle;
  Cycles eight_columns, register_operand, latency, issue_interval;

  static auto schema() {
    using namespace literals;
    using P = SmWarpgroupParameters;
    return parameters<P>()
        .field("queue", &P::queue, 6, range(1, 7),
               "products of a warp group that wait or are under way", "products")
        .field("interval_of_8_columns", &P::eight_columns, 4_cycles, range(1_cycles, 100_cycles),
               "cycles for eight columns of a product")
        .formerly("eight_columns")
        .field("operand_bytes_per_cycle", &P::operand_bytes_per_cycle, 128, range(16, 4096),
               "bytes a cycle of matrices that come from shared memory", "bytes")
        .field("register_operand", &P::register_operand, 18_cycles, range(0_cycles, 100_cycles),
               "cycles that A takes if it comes from registers")
        .field("latency", &P::latency, 49_cycles, range(1_cycles, 1000_cycles),
               "latency of a product, beside one cycle for each register of its result")
        .field("issue_interval", &P::issue_interval, 4_cycles, range(1_cycles, 100_cycles),
               "cycles between two products of a warp");
  }
};

/// Streaming multiprocessor, and how many there are.  Defaults: V100.
struct SmParameters {
  std::uint32_t count;
  Frequency clock;
  std::uint32_t threads, warps, blocks, threads_per_block, registers, register_unit, barriers;
  std::uint32_t schedulers, issue_width, memory_queue, parked_accesses;
  ThreadScheduling thread_scheduling;
  std::uint32_t turn;
  bool sub_cores;
  std::uint32_t sub_core_step;
  DefaultScheduler warp_scheduler;
  SourceRelease source_release;
  Expansions expansions;
  MultiplyUnit multiply_unit;
  bool unroll_loops;
  StoresDrainWith stores_drain_with;
  Placement placement;
  Cycles operand_read, memory_interval, constant_latency, constant_interval, barrier_latency;
  Cycles block_start;
  Cycles mbarrier_time_limit;
  Bytes local_bytes_per_thread;
  SmUnitParameters units;
  SmLatencyParameters latency;
  SmIntervalParameters interval;
  SmSharedParameters shared;
  SmL1Parameters l1;
  SmInstructionCacheParameters instruction_cache;
  SmConstantCacheParameters constant_cache;
  SmBulkParameters bulk;
  SmWarpgroupParameters wgmma;
  SmPortParameters port;

  /// Returns the length of a turn of paths that wait for each other, see isa::WarpPaths.
  std::uint32_t turn_of_paths() const {
    return thread_scheduling == ThreadScheduling::independent ? turn : 0;
  }
  /// Returns whether instructions, or constants, come from the simulated memory.
  bool fetches() const { return instruction_cache.on() || constant_cache.on(); }

  static auto schema() {
    using namespace literals;
    using P = SmParameters;
    return parameters<P>()
        .field("count", &P::count, 80, range(1, 4096), "streaming multiprocessors of the GPU",
               "SMs")
        .field("clock", &P::clock, 1312_MHz, range(1_MHz, 10000_MHz), "core clock")
        .field("threads", &P::threads, 2048, range(32, 2048), "thread slots", "threads")
        .field("warps", &P::warps, 64, range(1, 64), "warp slots", "warps")
        .field("blocks", &P::blocks, 32, range(1, 64), "thread block slots", "blocks")
        .field("threads_per_block", &P::threads_per_block, 1024, range(32, 2048),
               "largest thread block", "threads")
        .field("registers", &P::registers, 65536, range(1024, 1048576), "32-bit registers",
               "registers")
        .field("register_unit", &P::register_unit, 256, range(1, 4096),
               "registers of a warp come in units of this many", "registers")
        .field("barriers", &P::barriers, 16, range(1, 16), "named barriers of a block", "barriers")
        .field("schedulers", &P::schedulers, 4, range(1, 8).powers_of_two(),
               "issue schedulers; warp w belongs to scheduler w modulo schedulers", "schedulers")
        .field("issue_width", &P::issue_width, 1, range(1, 2),
               "instructions a scheduler issues per cycle", "instructions")
        .field("memory_queue", &P::memory_queue, 8, range(1, 64),
               "memory instructions between issue and the last translation check", "instructions")
        .field("parked_accesses", &P::parked_accesses, 512, range(1, 2048),
               "memory instructions that wait for translations before the load-store unit stops",
               "instructions")
        .field("thread_scheduling", &P::thread_scheduling, ThreadScheduling::independent,
               choice({"independent", "warp"}),
               "independent: lanes of a warp that wait for each other take turns (Volta and "
               "later); otherwise they wait for ever (before Volta)")
        .field("turn", &P::turn, 64, range(1, isa::longest_turn),
               "backward branches in a loop that waits for other threads (its end depends on an "
               "atomic or a volatile, relaxed or acquire load), without a lane leaving the loop, "
               "after which independent lanes give way; 2048 times as many if the loop reads by "
               "weak loads",
               "branches")
        .field("sub_cores", &P::sub_cores, true,
               "each scheduler has its own units (a class must have as many units as schedulers, "
               "or it is shared by all)")
        .field("sub_core_step", &P::sub_core_step, 0, range(0, 7),
               "0: the warps of a block take the first free slots; else warp w of the SM's block n "
               "(of 0, 1, ...) goes to scheduler n * sub_core_step + w, modulo schedulers, if that "
               "has a "
               "slot",
               "schedulers")
        .field("warp_scheduler", &P::warp_scheduler, DefaultScheduler::gto, choice({"gto", "lrr"}),
               "policies.warp_scheduler of a scenario that names none (with several GPUs: the "
               "first one's)")
        .field("placement", &P::placement, Placement::summed,
               choice({"summed", "packed", "aligned"}),
               "where blocks find registers and shared memory: in any pieces if the sum suffices, "
               "in the first gap (002), or at multiples of the size of their kernel's blocks (003)")
        .field("operand_read", &P::operand_read, 2_cycles, range(0_cycles, 100_cycles),
               "time between issue and execution")
        .field("source_release", &P::source_release, SourceRelease::issue,
               choice({"issue", "operand-read"}),
               "when a younger instruction of the warp may overwrite a source: at once, or in the "
               "cycle after operand read")
        .field("expansions", &P::expansions, Expansions::slots, choice({"slots", "sequence"}),
               "cost of division, roots and other operations that the compiler expands: issue "
               "slots of one class, or the sequence of machine operations of each")
        .field("multiply_unit", &P::multiply_unit, MultiplyUnit::integer,
               choice({"integer", "fp32"}),
               "unit that multiplies integers; fp32: that unit also takes moves, additions and "
               "shifts when it is less busy, and the integer unit compares floats")
        .field("unroll_loops", &P::unroll_loops, false,
               "innermost counted loops become straight code if their rounds are known; others run "
               "four rounds at a time, as ptxas does it")
        .field("stores_drain_with", &P::stores_drain_with, StoresDrainWith::block,
               choice({"block", "grid"}),
               "block: a block keeps its place until its stores are acknowledged; grid: only the "
               "end of the grid waits for that, and another block takes the place when the threads "
               "have ended and the stores are sent")
        .field("memory_interval", &P::memory_interval, 2_cycles, range(1_cycles, 100_cycles),
               "cycles between two memory instructions of one address generation unit")
        .field("constant_latency", &P::constant_latency, 26_cycles, range(1_cycles, 1000_cycles),
               "latency of a load from constant or parameter memory")
        .field("constant_interval", &P::constant_interval, 0_cycles, range(0_cycles, 100_cycles),
               "cycles of the SM's constant port for each word of such a load; 0: any number of "
               "loads at once, each a cycle longer for each further word")
        .field("barrier_latency", &P::barrier_latency, 8_cycles, range(1_cycles, 1000_cycles),
               "cycles from a barrier's last arrival to the next instructions")
        .field("mbarrier_time_limit", &P::mbarrier_time_limit, 1048576_cycles,
               range(1_cycles, 1073741824_cycles),
               "time for which mbarrier.try_wait suspends a thread that names none; PTX leaves it "
               "to the machine, and no publication has the time of hardware")
        .field("block_start", &P::block_start, 1_cycles, range(1_cycles, 10000_cycles),
               "cycles until a new block's first instructions: parameters, fetch, the end of "
               "another block")
        .field("local_bytes_per_thread", &P::local_bytes_per_thread, 512_KiB, range(1_KiB, 16_MiB),
               "most local memory a thread can have")
        .group("units", &P::units, "execution units")
        .group("latency", &P::latency, "cycles from operands to result, by class")
        .group("interval", &P::interval, "cycles between two instructions of a unit, by class")
        .group("shared", &P::shared, "shared memory")
        .group("l1", &P::l1, "first-level data cache")
        .group("instruction_cache", &P::instruction_cache, "instruction caches")
        .group("constant_cache", &P::constant_cache, "constant caches")
        .group("bulk", &P::bulk, "engine for bulk copies")
        .group("wgmma", &P::wgmma, "products of warp groups, of GPUs of compute capability 9.0")
        .group("port", &P::port, "the SM's end of the network")
        .only_if("turn", "with thread_scheduling: independent",
                 [](const P& p) { return p.thread_scheduling == ThreadScheduling::independent; })
        .only_if(
            "latency.multiply_high latency.multiply_wide latency.bit_count latency.division_check "
            "interval.multiply_wide interval.division_check",
            "with expansions: sequence",
            [](const P& p) { return p.expansions == Expansions::sequence; })
        .only_if("shared.carve_outs", "with l1.unified_bytes above 0",
                 [](const P& p) { return p.l1.unified_bytes.count() > 0; })
        .check([](const P& p) { return p.unified_misfit(); });
  }

  /// Returns what is wrong with how L1 and shared memory divide their storage, or "".
  std::string unified_misfit() const {
    const std::uint64_t unified = l1.unified_bytes.count();
    if (unified == 0) return "";
    if (shared.bytes.count() >= unified)
      return "shared.bytes (" + std::to_string(shared.bytes.count()) +
             ") leave nothing of l1.unified_bytes (" + std::to_string(unified) +
             ") to L1 - make these more, or shared.bytes fewer";
    for (const Bytes carve_out : shared.carve_outs) {
      const std::string name = "l1.unified_bytes without the carve-out of " +
                               std::to_string(carve_out.count()) + " bytes";
      const std::uint64_t rest = unified - std::min(unified, carve_out.count());
      if (std::string text = l1.misfit(rest, name); !text.empty()) return text;
    }
    return "";
  }

  /// `log_entries`: entries of the exception scheme's operand log.
  OccupancyLimits occupancy_limits(std::uint32_t log_entries) const {
    OccupancyLimits limits;
    limits.log_entries = log_entries;
    limits.placement = placement;
    limits.threads = threads;
    limits.warps = warps;
    limits.blocks = blocks;
    limits.registers = registers;
    limits.shared_bytes = static_cast<std::uint32_t>(shared.bytes.count());
    limits.shared_bytes_per_block = static_cast<std::uint32_t>(shared.bytes_per_block.count());
    limits.barriers = barriers;
    limits.threads_per_block = threads_per_block;
    limits.register_unit = register_unit;
    limits.shared_unit = static_cast<std::uint32_t>(shared.unit.count());
    return limits;
  }
};

}  // namespace lockstep
