#pragma once

#include "core/parameters/parameters.hpp"
#include "models/fragmentation/fragmentation_parameters.hpp"
#include "models/memory/dram/dram_parameters.hpp"

namespace lockstep {

enum class L2Write : std::uint8_t { back, through };
enum class L2Fetch : std::uint8_t { sectors, line };
enum class BypassPath : std::uint8_t { shared, own };

/// The L2 slices of a partition: key `memory.l2` of a GPU.
///
/// Capacity and MSHRs of a slice are divided evenly among its banks; parameters behind the port are
/// per bank.  Source: memory-interference.md, 1.2; gpu-parameters.md, section 8.
struct L2Parameters {
  std::uint32_t slices = 0, banks = 0;
  Bytes size;
  std::uint32_t ways = 0;
  Cycles latency;
  std::uint32_t bank_width = 0;
  std::uint32_t atomic_rate = 0;
  std::uint32_t mshrs = 0, merges = 0;
  std::uint32_t ports = 0;
  std::uint32_t bank_queue = 0, bypass_queue = 0, fill_queue = 0, response_queue = 0;
  std::uint32_t response_rate = 0;
  BypassPath bypass_path = BypassPath::shared;
  L2Write write = L2Write::back;
  L2Fetch fetch = L2Fetch::sectors;
  std::uint32_t dirty_ways = 0;

  static auto schema() {
    using namespace literals;
    return parameters<L2Parameters>()
        .field("slices", &L2Parameters::slices, 2, range(1, 16).powers_of_two(),
               "slices of a partition")
        .field("banks", &L2Parameters::banks, 1, range(1, 16).powers_of_two(), "banks of a slice")
        .field("size", &L2Parameters::size, 96_KiB, range(1_KiB, 1024_MiB), "capacity of a slice")
        .field("ways", &L2Parameters::ways, 24, range(1, 64), "lines of 128 bytes in a set",
               "lines")
        .field("latency", &L2Parameters::latency, 10_cycles, range(1_cycles, 1000_cycles),
               "time from the start of bank service to the answer of a hit")
        .field("bank_width", &L2Parameters::bank_width, 32, range(32, 128).powers_of_two(),
               "bytes a bank reads or writes in a cycle", "bytes")
        .field("atomic_rate", &L2Parameters::atomic_rate, 8, range(1, 32),
               "lanes of an atomic that a bank executes in a cycle", "lanes")
        .field("mshrs", &L2Parameters::mshrs, 192, range(1, 8192),
               "outstanding missed lines of a slice", "lines")
        .field("merges", &L2Parameters::merges, 4, range(1, 1024),
               "requests that may wait for one missed line", "requests")
        .field("ports", &L2Parameters::ports, 2, range(1, 16),
               "input ports of a partition, a flit per cycle each")
        .field("bank_queue", &L2Parameters::bank_queue, 8, range(1, 4096),
               "places in the request queue of a bank", "requests")
        .field(
            "bypass_queue", &L2Parameters::bypass_queue, 0, range(0, 4096),
            "places between the ports and the DRAM queue for requests past the L2, which then take "
            "turns with the banks; 0: such a request waits at its port, and so do all behind it",
            "requests")
        .field(
            "bypass_path", &L2Parameters::bypass_path, BypassPath::shared,
            choice({"shared", "own"}),
            "where requests past the L2 pass: through the input ports and the response queue, as "
            "all others; or around both, straight into bypass_queue, with answers that leave at "
            "once")
        .field("fill_queue", &L2Parameters::fill_queue, 8, range(1, 4096),
               "places in the DRAM-to-L2 queue of a bank", "lines")
        .field("response_queue", &L2Parameters::response_queue, 8, range(1, 4096),
               "places in the queue from the banks of a partition to the network", "responses")
        .field("response_rate", &L2Parameters::response_rate, 2, range(1, 16),
               "flits that leave a partition in a cycle", "flits")
        .field("write", &L2Parameters::write, L2Write::back, choice({"back", "through"}),
               "when stores go to DRAM")
        .field("fetch", &L2Parameters::fetch, L2Fetch::sectors, choice({"sectors", "line"}),
               "sectors that a miss reads: the sectors that were asked for, or all that its line "
               "lacks")
        .field("dirty_ways", &L2Parameters::dirty_ways, 0, range(0, 64),
               "lines of a set that may be dirty: before one more becomes dirty, the oldest of "
               "them is written to DRAM and stays as a clean line; 0: all",
               "lines")
        .check([](const L2Parameters& p) -> std::string {
          const std::uint64_t bank = p.size.count() / p.banks;
          const std::uint64_t sets = bank / (std::uint64_t{128} * p.ways);
          if (sets == 0 || sets * 128 * p.ways * p.banks != p.size.count())
            return "size is no multiple of banks * ways * 128 bytes - make it one of " +
                   std::to_string(std::uint64_t{128} * p.ways * p.banks) + " B";
          if (p.slices * p.banks > 64)
            return "more than 64 banks in a partition - lower slices or banks";
          if (p.bypass_path == BypassPath::own && p.bypass_queue == 0)
            return "bypass_path: own has no queue to lead to - set bypass_queue";
          return p.mshrs >= p.banks ? "" : "fewer MSHRs than banks - raise mshrs or lower banks";
        });
  }

  std::uint32_t total_banks() const { return slices * banks; }
  std::uint32_t sets_per_bank() const {
    return static_cast<std::uint32_t>(size.count() / banks / (128 * ways));
  }
};

/// The memory partitions: key `memory` of a GPU.
struct MemoryParameters {
  std::uint32_t partitions = 0;
  Bytes capacity;
  double oversubscription = 0;
  Frequency clock;
  L2Parameters l2;
  DramParameters dram;
  FragmentationParameters fragmentation;

  /// Returns the peak bandwidth of all partitions.
  std::uint64_t bytes_per_second() const { return partitions * dram.bytes_per_second(); }

  static auto schema() {
    using namespace literals;
    return parameters<MemoryParameters>()
        .field("partitions", &MemoryParameters::partitions, 32, range(1, 1024),
               "memory partitions: L2 slices in front of DRAM channels")
        .field("capacity", &MemoryParameters::capacity, 16_GiB, range(16_KiB, 1024_GiB),
               "GPU memory, all partitions together")
        .field(
            "oversubscription", &MemoryParameters::oversubscription, 0.0, range(0, 1000),
            "ratio, as 125% or 1.25, of the managed memory of all tenants to the memory that "
            "device memory and page tables leave for it; the capacity follows from it, rounded up; "
            "the output's /config has this capacity, and 0 here; 0: the capacity is `capacity`")
        .field("clock", &MemoryParameters::clock, 1312_MHz, range(1_MHz, 10000_MHz),
               "clock of the L2")
        .group("l2", &MemoryParameters::l2, "L2 slices")
        .group("dram", &MemoryParameters::dram, "DRAM channels")
        .group("fragmentation", &MemoryParameters::fragmentation,
               "foreign pages in GPU memory before the run")
        .only_if("capacity", "with oversubscription: 0",
                 [](const MemoryParameters& p) { return p.oversubscription == 0; })
        .check([](const MemoryParameters& p) -> std::string {
          // Every mapping interleaves whole frames evenly.
          if (p.capacity.count() % (std::uint64_t{4096} * p.partitions) == 0) return "";
          return "capacity is no multiple of 4 KiB per partition - make it one of " +
                 std::to_string(4 * p.partitions) + " KiB";
        });
  }
};

}  // namespace lockstep
