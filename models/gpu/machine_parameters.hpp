#pragma once

#include <string>

#include "core/parameters/parameters.hpp"
#include "models/dispatch/dispatch_parameters.hpp"
#include "models/dispatch/sharing/sharing.hpp"
#include "models/host/host_parameters.hpp"
#include "models/host/scenario.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "models/memory/memory_parameters.hpp"
#include "models/noc/noc_parameters.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/sm_parameters.hpp"
#include "models/sm/warp_scheduler/registry.hpp"

namespace lockstep {

/// A GPU as configs/gpus/*.yaml describe it.
struct GpuParameters {
  std::string name;
  SmParameters sm;
  NocParameters noc;
  MemoryParameters memory;
  DispatchParameters dispatch;

  static auto schema() {
    using P = GpuParameters;
    return parameters<P>()
        .required("name", &P::name, "what it is called in reports")
        .group("sm", &P::sm, "streaming multiprocessors")
        .group("noc", &P::noc, "network between SMs and memory partitions")
        .group("memory", &P::memory, "memory partitions")
        .group("dispatch", &P::dispatch, "thread block scheduler");
  }
};

/// `policies:` of a scenario: what stands at each plug point.
struct PolicyParameters {
  PolicyChoice warp_scheduler, exception_scheme, cache_policy, dram_scheduler, sharing;

  static auto schema() {
    using P = PolicyParameters;
    return parameters<P>()
        .policy("warp_scheduler", &P::warp_scheduler, "gto", warp_scheduler_policies,
                "which ready warp of a scheduler issues")
        .policy("exception_scheme", &P::exception_scheme, "stall-on-fault",
                exception_scheme_policies, "what a faulting memory instruction does to its warp")
        .policy("cache_policy", &P::cache_policy, "lru", cache_policies,
                "bypass, insertion and replacement in the L2")
        .policy("dram_scheduler", &P::dram_scheduler, "fr-fcfs", dram_scheduler_policies,
                "which request of a DRAM channel goes next")
        .policy("sharing", &P::sharing, "exclusive", sharing_policies,
                "which tenant's blocks an SM runs");
  }
};

/// Everything a scenario says about the machine, resolved.
struct MachineParameters {
  GpuParameters gpu;
  HostParameters host;
  PolicyParameters policies;
  SimulationParameters simulation;

  static auto schema() {
    using P = MachineParameters;
    return parameters<P>()
        .group("gpu", &P::gpu, "the GPU")
        .group("host", &P::host, "CPU side and host link")
        .group("policies", &P::policies, "what stands at each plug point")
        .group("simulation", &P::simulation, "sampling, seed and end");
  }
};

MachineParameters read_machine(const Scenario& scenario);

}  // namespace lockstep
