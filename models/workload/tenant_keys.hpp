#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Keys of an entry of `tenants:`, in the order of /config of an output.
struct TenantKeys {
  std::string name;
  Node workload_node, parameters_node, memory_node, set_node, cpu_node, arrivals_node, gpus_node,
      mig_node;
  Time arrival;                   ///< arrival of the first start
  Time deadline = Time::never();  ///< deadline of each start, counted from its arrival; never: none
  /// Longest time until an SM that the tenant takes is free; never: none.
  Time latency_bound = Time::never();
  std::uint32_t priority = 0;
  static constexpr std::uint32_t any_gpu = ~std::uint32_t{0};
  std::uint32_t gpu = any_gpu;  ///< GPU on which the tenant runs, or whose memory its core shares
  std::uint32_t sms = 0;        ///< SMs with spatial sharing; 0: an equal part of the rest
  bool relaunch = false;        ///< the tenant starts over until all others have been measured
  /// Warp instructions, or instructions of the CPU core, after which the tenant has been measured
  /// and only keeps up contention; 0: the end of the program.
  std::uint64_t instructions = 0;

  static auto schema() {
    using namespace literals;
    using P = TenantKeys;
    return parameters<P>()
        .required("name", &P::name, "name of the tenant in reports and in the output")
        .part("workload", &P::workload_node, "file or map",
              "program of the tenant: a file of configs/workloads by name, or a map "
              "(docs/workloads.md)")
        .field("arrival", &P::arrival, 0_fs, at_least(0_fs), "when its program starts first")
        .field("priority", &P::priority, 0, range(0, 65535),
               "urgency, the higher the more urgent: with policies.preemption and host.link_order: "
               "priority",
               "priority")
        .optional("gpu", &P::gpu, any_gpu, "by policies.placement", range(0, 65535),
                  "number of the GPU on which the tenant runs, of several (gpus)", "GPU")
        .part(
            "gpus", &P::gpus_node, "list",
            "numbers of the GPUs on which it runs, if there are several: its buffers and launches "
            "say on which of them")
        .part("mig", &P::mig_node, "word",
              "slice of its GPU that is the tenant's own, as 2g.10gb: a name below mig: in the "
              "GPU's file")
        .field("sms", &P::sms, 0, range(0, 65535),
               "SMs of its own with policies.sharing: spatial; 0: an equal part of the rest", "SMs")
        .field("relaunch", &P::relaunch, false,
               "its program starts over until all other tenants have been measured")
        .optional("instructions", &P::instructions, 0, "none", at_least(std::uint64_t{1}),
                  "warp instructions, or instructions of its CPU core, after which the tenant has "
                  "been measured and only keeps up contention; without it, the end of its program",
                  "instructions")
        .optional("latency_bound", &P::latency_bound, Time::never(), "none", at_least(0_fs),
                  "time within which an SM that the tenant takes from another one should be free: "
                  "techniques of policies.preemption choose by it; more than 0")
        .optional("deadline", &P::deadline, Time::never(), "none", at_least(0_fs),
                  "time limit of each start of its program, from its arrival on: /arrivals says "
                  "whether it was met; more than 0")
        .part("arrivals", &P::arrivals_node, "map",
              "when its program starts again: {every: 200us, count: 50}, {uniform: [100us, 300us], "
              "count: 50}, {poisson: 200us, count: 50} or {at: [10us, 50us]}, from arrival on")
        .part("parameters", &P::parameters_node, "map", "parameters of the workload, by name")
        .part("memory", &P::memory_node, "word",
              "managed or pinned: where all device buffers of the workload are instead")
        .part("set", &P::set_node, "map",
              "other values of the workload, by dotted key: {buffers.a.memory: managed}")
        .part("cpu", &P::cpu_node, "map",
              "program on a CPU core, instead of a workload: {profile: mcf} or {trace: FILE}")
        .only_if(
            "workload priority gpus mig sms latency_bound deadline arrivals parameters memory set",
            "without cpu", [](const P& p) { return !p.cpu_node.exists(); });
  }
};

}  // namespace lockstep
