#pragma once

#include <bit>

#include "core/parameters/parameters.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A translation lookaside buffer has separate entries for 4 KiB and 2 MiB pages, all tagged with
/// the tenant (004, section 7.1.2).  `ways` 0: fully associative.

/// Returns the reason why an array of `entries` in sets of `ways` is wrong, or "".  `kind` stands
/// before both keys.
inline std::string misfit(std::uint32_t entries, std::uint32_t ways, const std::string& kind = "") {
  if (ways == 0 || entries % ways == 0) return "";
  return kind + "entries (" + std::to_string(entries) + ") are no multiple of " + kind + "ways (" +
         std::to_string(ways) + ") - make them one, or " + kind + "ways 0 (fully associative)";
}
/// Returns what is wrong with a TLB's two arrays, or "".
template <class TlbParameters>
std::string tlb_misfit(const TlbParameters& p) {
  const std::string base = misfit(p.entries, p.ways);
  return base.empty() ? misfit(p.large_entries, p.large_ways, "large_") : base;
}

/// Key `vm.l1_tlb`: one TLB in each SM, looked up beside the L1 cache; a hit takes no time of its
/// own.
struct L1TlbParameters {
  std::uint32_t entries, ways, large_entries, large_ways, mshrs;
  bool merges_large;

  static auto schema() {
    using P = L1TlbParameters;
    return parameters<P>()
        .field("entries", &P::entries, 64, range(1, 1 << 16), "entries for 4 KiB pages", "entries")
        .field("ways", &P::ways, 0, range(0, 1 << 16), "ways of a set; 0: fully associative",
               "ways")
        .field("large_entries", &P::large_entries, 16, range(1, 1 << 16), "entries for 2 MiB pages",
               "entries")
        .field("large_ways", &P::large_ways, 0, range(0, 1 << 16), "0: fully associative", "ways")
        .field("mshrs", &P::mshrs, 64, range(1, 1 << 16),
               "pages asked for and not answered; refused ones do not count", "pages")
        .field("merges_large", &P::merges_large, false,
               "true: a miss waits for one that is under way in the same 2 MiB, unless the last "
               "answer for the tenant was a page of 4 KiB (no publication has it)")
        .check(tlb_misfit<P>);
  }
};

/// Key `vm.gpc_tlb`: behind the L1 TLBs of the SMs of a graphics processing cluster.
struct GpcTlbParameters {
  bool enabled;
  std::uint32_t entries, ways, large_entries, large_ways;
  Cycles latency;

  static auto schema() {
    using namespace literals;
    using P = GpcTlbParameters;
    return parameters<P>()
        .field("enabled", &P::enabled, false, "false: L1 TLB misses go straight to the GMMU")
        .field("entries", &P::entries, 4096, range(1, 1 << 20), "entries for 4 KiB pages",
               "entries")
        .field("ways", &P::ways, 0, range(0, 1 << 20), "ways of a set; 0: fully associative",
               "ways")
        .field("large_entries", &P::large_entries, 4096, range(0, 1 << 20),
               "entries for 2 MiB pages; 0: a large page takes an entry for each 4 KiB of it that "
               "is used, and device memory reaches no further than `entries` of them, whatever "
               "vm.device_pages says",
               "entries")
        .field("large_ways", &P::large_ways, 0, range(0, 1 << 20), "0: fully associative", "ways")
        .field("latency", &P::latency, 9_cycles, range(0_cycles, 10000_cycles),
               "extra delay of a request when only the GPC TLB holds its page")
        .only_if("entries ways large_entries large_ways latency", "with enabled: true",
                 [](const P& p) { return p.enabled; })
        .only_if("large_ways", "with large_entries above 0",
                 [](const P& p) { return !p.enabled || p.large_entries > 0; })
        .check(tlb_misfit<P>);
  }
};

/// Key `vm.l2_tlb`: in the GMMU, shared by all SMs.
struct L2TlbParameters {
  bool enabled, together;
  std::uint32_t entries, ways, large_entries, large_ways, mshrs, ports;
  Cycles latency;

  static auto schema() {
    using namespace literals;
    using P = L2TlbParameters;
    return parameters<P>()
        .field("enabled", &P::enabled, true,
               "false: no L2 TLB, every L1 miss is a walk (001, section B.2)")
        .field("entries", &P::entries, 512, range(1, 1 << 20), "entries for 4 KiB pages", "entries")
        .field("ways", &P::ways, 16, range(0, 1 << 20), "ways of a set; 0: fully associative",
               "ways")
        .field("large_entries", &P::large_entries, 256, range(1, 1 << 20),
               "entries for 2 MiB pages", "entries")
        .field("large_ways", &P::large_ways, 0, range(0, 1 << 20), "0: fully associative", "ways")
        .field("mshrs", &P::mshrs, 128, range(1, 1 << 20), "pages with a walk under way or waiting",
               "pages")
        .field("ports", &P::ports, 2, range(1, 64), "lookups that begin in a cycle", "lookups")
        .field("latency", &P::latency, 10_cycles, range(1_cycles, 10000_cycles),
               "latency of a lookup of the large-page entries; as much again for the 4 KiB entries "
               "when those miss")
        .field("together", &P::together, false,
               "entries of both page sizes are looked up at once, in one latency")
        .only_if("entries ways large_entries large_ways ports latency together",
                 "with enabled: true", [](const P& p) { return p.enabled; })
        .check(tlb_misfit<P>);
  }
};

/// Key `vm.walk_cache`: page table entries near the walkers (translation: page-walk-cache).
struct WalkCacheParameters {
  std::uint32_t entries, ways;
  Cycles latency;

  static auto schema() {
    using namespace literals;
    using P = WalkCacheParameters;
    return parameters<P>()
        .field("entries", &P::entries, 1024, range(1, 1 << 20), "page table entries of 8 bytes",
               "entries")
        .field("ways", &P::ways, 16, range(0, 1 << 20), "ways of a set; 0: fully associative",
               "ways")
        .field("latency", &P::latency, 10_cycles, range(1_cycles, 10000_cycles),
               "latency of a lookup")
        .check([](const P& p) { return misfit(p.entries, p.ways); });
  }
};

/// Pages of device memory under page manager `mixed-pages`.
enum class DevicePages : std::uint8_t { fitting, large, shared };

enum class ShootdownGranularity : std::uint8_t { whole, entry, none };
enum class ShootdownScope : std::uint8_t { tenant, all };

/// Key `vm` of a GPU: the GMMU and its counterparts in the SMs.
/// Sources: 000, Table 1; 001, sections B.2, C.1, C.3; 004, Tables 6.1 and 7.1.
struct VmParameters {
  Frequency clock;
  Cycles link_latency, memory_latency, walk_latency;
  std::uint32_t walkers, far_fault_mshrs;
  Bytes fault_granule;
  L1TlbParameters l1_tlb;
  GpcTlbParameters gpc_tlb;
  L2TlbParameters l2_tlb;
  WalkCacheParameters walk_cache;
  ShootdownGranularity shootdown;
  ShootdownScope shootdown_scope;
  DevicePages device_pages;

  /// Returns the latency of a link between the GMMU and a partition, where the links of SMs take as
  /// long as `network`.
  Time memory_link(Time network) const {
    return memory_latency == Cycles{0} ? network : Clock(clock).duration(memory_latency);
  }

  static auto schema() {
    using namespace literals;
    using P = VmParameters;
    return parameters<P>()
        .field("clock", &P::clock, 1312_MHz, range(1_MHz, 10000_MHz), "clock of the GMMU")
        .field("link_latency", &P::link_latency, 45_cycles, range(1_cycles, 100000_cycles),
               "latency between an SM and the GMMU, each way; a hub's real distance")
        .field("memory_latency", &P::memory_latency, 0_cycles, range(0_cycles, 100000_cycles),
               "latency between the GMMU and a memory partition, each way; 0: as between SMs and "
               "partitions")
        .field("walkers", &P::walkers, 64, range(1, 1 << 16), "page walks at once", "walks")
        .field("walk_latency", &P::walk_latency, 0_cycles, range(0_cycles, 1000000_cycles),
               "fixed latency of every walk (000, 001); 0: walks read the tables through L2 and "
               "DRAM (004)")
        .field("far_fault_mshrs", &P::far_fault_mshrs, 0, range(0, 1 << 20),
               "pages that the host has been told of at once; 0: any number", "pages")
        .field("fault_granule", &P::fault_granule, 64_KiB, range(4_KiB, 2_MiB),
               "bytes, a power of two, whose pages count as one fault in the queue of pending "
               "faults; the queue gives each fault its position (000, sections 4.1 and 5.1)")
        .group("l1_tlb", &P::l1_tlb, "translations in each SM")
        .group("gpc_tlb", &P::gpc_tlb, "translations behind the L1 TLBs of the SMs of a cluster")
        .group("l2_tlb", &P::l2_tlb, "translations in the GMMU")
        .group("walk_cache", &P::walk_cache, "page table entries in the GMMU")
        .field("shootdown", &P::shootdown, ShootdownGranularity::entry,
               choice({"whole", "entry", "none"}),
               "TLB entries that are dropped when a page has come (001, section C.3) or, with "
               "`whole`, has gone (004, section 6.4.1); the entry of a page that goes is always "
               "dropped")
        .field("shootdown_scope", &P::shootdown_scope, ShootdownScope::tenant,
               choice({"tenant", "all"}), "tenants whose entries `whole` drops")
        .field(
            "device_pages", &P::device_pages, DevicePages::fitting,
            choice({"fitting", "large", "shared"}),
            "pages of device memory under policies.page_manager mixed-pages: 2 MiB where a buffer "
            "fills them and 4 KiB for the rest, or all of 2 MiB as Volta has them (Jia et al. "
            "2018), each buffer its own or buffers of up to 1 MiB together; with 4 KiB, "
            "l1_tlb.entries and gpc_tlb.entries say how far TLBs reach, not their large_entries")
        .only_if("shootdown_scope", "with shootdown: whole",
                 [](const P& p) { return p.shootdown == ShootdownGranularity::whole; })
        .check([](const P& p) {
          const std::uint64_t bytes = p.fault_granule.count();
          if (std::has_single_bit(bytes)) return std::string();
          return "fault_granule (" + std::to_string(bytes) +
                 " bytes) is no power of two - make it one of 4KiB to 2MiB";
        });
  }
};

}  // namespace lockstep
