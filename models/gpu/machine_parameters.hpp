#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "core/parameters/parameters.hpp"
#include "models/cpu/cpu_parameters.hpp"
#include "models/dispatch/dispatch_parameters.hpp"
#include "models/dispatch/preemption/preemption.hpp"
#include "models/dispatch/sharing/sharing.hpp"
#include "models/driver/eviction/eviction.hpp"
#include "models/driver/managed/fault_handling/fault_handling.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "models/driver/peer_policy/peer_policy.hpp"
#include "models/driver/prefetch/prefetcher.hpp"
#include "models/fabric/fabric.hpp"
#include "models/gpu/placement/placement.hpp"
#include "models/host_link/host_parameters.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "models/memory/memory_parameters.hpp"
#include "models/memory/replacement/replacement.hpp"
#include "models/noc/noc_parameters.hpp"
#include "models/noc/topology.hpp"
#include "models/sm/block_switching/registry.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/parameters/bandwidth_share.hpp"
#include "models/sm/parameters/sm_parameters.hpp"
#include "models/sm/warp_scheduler/registry.hpp"
#include "models/vm/tlb_fill/tlb_fill.hpp"
#include "models/vm/translation/translation.hpp"
#include "models/vm/vm_parameters.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

/// A GPU as configs/gpus/*.yaml describe it.
struct GpuParameters {
  std::string name, compute_capability;
  SmParameters sm;
  NocParameters noc;
  MemoryParameters memory;
  DispatchParameters dispatch;
  VmParameters vm;
  CpuParameters cpu;
  Node mig;  ///< slices, see models/workload/slices.hpp
  std::uint32_t copy_engines;

  /// Returns whether the GPU has thread block clusters: since compute capability 9.0.
  bool has_clusters() const { return std::atoi(compute_capability.c_str()) >= 9; }

  static auto schema() {
    using P = GpuParameters;
    return parameters<P>()
        .required("name", &P::name, "name of the GPU in reports")
        .field("compute_capability", &P::compute_capability, "7.0",
               choice({"2.0", "2.1", "3.0",  "3.2",  "3.5",  "3.7",  "5.0", "5.2", "5.3",
                       "6.0", "6.1", "6.2",  "7.0",  "7.2",  "7.5",  "8.0", "8.6", "8.7",
                       "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"}),
               "generation of the GPU that captured programs find; their newest PTX for it, or "
               "older, is taken")
        .group("sm", &P::sm, "streaming multiprocessors")
        .group("noc", &P::noc, "network between SMs and memory partitions")
        .group("memory", &P::memory, "memory partitions")
        .group("dispatch", &P::dispatch, "thread block scheduler")
        .group("vm", &P::vm, "address translation")
        .group("cpu", &P::cpu, "CPU cores that share the GPU's memory")
        .field("copy_engines", &P::copy_engines, 2, range(1, 64),
               "transfers over the host link at once, of each direction one at most; with 1, "
               "directions take turns")
        .part("mig", &P::mig, "map",
              "slices that tenants can have of the GPU (mig of a tenant), by name, with their SMs "
              "and eighths of the memory: {1g.5gb: {sms: 14, memory: 1}}")
        .check([](const P& p) { return p.gpc_misfit(); });
  }
  AddressMapping mapping(std::size_t tenants) const {
    return {noc.mapping,
            memory.partitions,
            {static_cast<std::uint32_t>(tenants), memory.capacity.count() / tenants}};
  }
  Topology topology() const {
    return Topology({sm.count, memory.partitions, dispatch.clusters, dispatch.gpcs});
  }
  /// Returns what is wrong with dispatch.gpcs, or "".
  std::string gpc_misfit() const;
  BandwidthShare bandwidth_of_an_sm() const { return {memory.bytes_per_second() / sm.count}; }
};

/// `policies:` of a scenario: the policy at each plug point.
struct PolicyParameters {
  PolicyChoice warp_scheduler, exception_scheme, block_switching;
  PolicyChoice cache_policy, replacement, dram_scheduler, sharing, preemption;
  PolicyChoice translation, tlb_fill, page_manager, fault_handling, prefetcher, eviction;
  PolicyChoice placement, peer_policy;

  static auto schema() {
    using P = PolicyParameters;
    return parameters<P>()
        .policy("warp_scheduler", &P::warp_scheduler, "gto", warp_scheduler_policies,
                "which ready warp of a scheduler issues")
        .policy("exception_scheme", &P::exception_scheme, "stall-on-fault",
                exception_scheme_policies, "what a faulting memory instruction does to its warp")
        .policy("block_switching", &P::block_switching, "none", block_switching_policies,
                "which thread blocks leave an SM when they fault")
        .policy("cache_policy", &P::cache_policy, "lru", cache_policies,
                "bypass and insertion in the L2")
        .policy("replacement", &P::replacement, "lru", replacement_policies,
                "which line of a full L2 set leaves")
        .policy("dram_scheduler", &P::dram_scheduler, "fr-fcfs", dram_scheduler_policies,
                "which request of a DRAM channel goes next")
        .policy("sharing", &P::sharing, "exclusive", sharing_policies,
                "which tenant's blocks an SM runs")
        .policy("preemption", &P::preemption, "none", preemption_policies,
                "how a more urgent tenant gets SMs from another one (sharing: exclusive)")
        .policy("translation", &P::translation, "shared-tlb", translation_policies,
                "what stands between an L1 TLB miss and a page walk")
        .policy("tlb_fill", &P::tlb_fill, "lru", tlb_fill_policies,
                "where the result of a page walk is kept")
        .policy("page_manager", &P::page_manager, "mixed-pages", page_manager_policies,
                "in which pages memory is mapped, and which frames they get")
        .policy("fault_handling", &P::fault_handling, "host", fault_handling_policies,
                "who serves a page that is not in GPU memory, and at what cost")
        .policy("prefetcher", &P::prefetcher, "tree", prefetcher_policies,
                "which pages come along with one that faulted")
        .policy("eviction", &P::eviction, "lru", eviction_policies,
                "which pages leave a full GPU memory")
        .policy("placement", &P::placement, "fixed", placement_policies,
                "GPU of a tenant that names none, among several")
        .policy("peer_policy", &P::peer_policy, "migrate", peer_policies,
                "how the GPUs of a tenant share its managed memory");
  }
};

/// Everything a scenario says about the machine, resolved.
struct MachineParameters {
  GpuParameters gpu;  ///< parameters of the GPU; of several, of the first
  HostParameters host;
  PolicyParameters policies;
  SimulationParameters simulation;
  std::vector<GpuParameters> gpus;  ///< parameters of all GPUs, if there are several
  /// Number of each tenant's first GPU, if there are several.
  std::vector<std::uint32_t> placement;
  /// Numbers of all GPUs of each tenant that has several.
  std::vector<std::vector<std::uint32_t>> further;
  std::optional<Fabric> fabric;

  bool has_several_gpus() const { return !gpus.empty(); }
  /// Returns the number of a tenant's GPU.
  std::uint32_t gpu_of(std::size_t tenant) const { return gpus.empty() ? 0 : placement[tenant]; }
  const GpuParameters& gpu_at(std::uint32_t number) const {
    return gpus.empty() ? gpu : gpus[number];
  }
  /// Returns the tenants' numbers, ascending.
  std::vector<std::uint32_t> tenants_on(std::uint32_t gpu) const;
  /// Returns the parameters for one of several GPUs, as if it were the only one.
  MachineParameters on(std::uint32_t gpu) const;

  /// Returns whether the chosen translation has a trait.
  bool translates(const std::string& trait) const {
    return has_trait(translation_policies(), policies.translation, trait);
  }

  static auto schema() {
    using P = MachineParameters;
    return parameters<P>()
        .group("gpu", &P::gpu, "the GPU")
        .group("host", &P::host, "CPU side and host link")
        .group("policies", &P::policies, "the policy at each plug point")
        .group("simulation", &P::simulation, "sampling, seed and end")
        .only_if("gpu.vm.l2_tlb.enabled", "with policies.translation: shared-tlb",
                 [](const P& p) { return p.translates("has a shared TLB"); })
        .only_if(
            "gpu.vm.l2_tlb.entries gpu.vm.l2_tlb.ways gpu.vm.l2_tlb.large_entries "
            "gpu.vm.l2_tlb.large_ways gpu.vm.l2_tlb.ports gpu.vm.l2_tlb.latency "
            "gpu.vm.l2_tlb.together",
            "with policies.translation: shared-tlb",
            [](const P& p) { return !p.gpu.vm.l2_tlb.enabled || p.translates("has a shared TLB"); })
        .only_if(
            "policies.tlb_fill",
            "with policies.translation: shared-tlb and gpu.vm.l2_tlb.enabled: true",
            [](const P& p) { return p.gpu.vm.l2_tlb.enabled && p.translates("has a shared TLB"); })
        .only_if("gpu.vm.walk_cache", "with policies.translation: page-walk-cache",
                 [](const P& p) { return p.translates("keeps entries of page tables"); })
        .only_if("gpu.vm.walkers gpu.vm.walk_latency gpu.vm.l2_tlb.mshrs",
                 "with a policies.translation that walks page tables",
                 [](const P& p) { return !p.translates("knows all translations"); })
        .only_if("policies.placement policies.peer_policy", "with several GPUs (gpus)",
                 [](const P& p) { return p.has_several_gpus(); })
        .only_if("gpu.vm.device_pages", "with policies.page_manager: mixed-pages or large-pages",
                 [](const P& p) {
                   return has_trait(page_manager_policies(), p.policies.page_manager,
                                    "maps device memory in large pages");
                 });
  }
};

/// Returns the scenario's parameters, resolved.
MachineParameters resolve_machine(const Scenario& scenario);
/// Returns the scenario's parameters, whose policies go together (policy_check.hpp). Throws
/// UserError.
MachineParameters read_machine(const Scenario& scenario);

}  // namespace lockstep
