#pragma once

#include <string>

#include "core/parameters/parameters.hpp"
#include "models/host_link/tenant_turns.hpp"

namespace lockstep {

/// Forms of a transfer's time as a function of its size; see link_curve.hpp.
enum class CurveKind : std::uint8_t { measured, affine, atan };

/// CPU side and host link (configs/hosts/*.yaml).  Sources: gpu-parameters.md, section 12;
/// virtual-memory-and-exceptions.md, section 4.
struct HostParameters {
  std::string name;
  CurveKind link_curve;
  Bandwidth link_bandwidth;
  Time transfer_setup;
  Bandwidth atan_bandwidth;
  double atan_slope;
  Time link_latency, launch_overhead, collective_start;
  std::uint32_t lines_in_flight;
  TenantOrder link_order;
  bool link_preempts_prefetch;
  Bytes memory;
  Node uplinks;                    ///< links that GPUs share, see uplink.hpp
  std::uint32_t copy_engines = 2;  ///< copy engines of the GPU at the link, a parameter of that GPU

  static auto schema() {
    using namespace literals;
    using P = HostParameters;
    return parameters<P>()
        .required("name", &P::name, "name of the host in reports")
        .field("link_curve", &P::link_curve, CurveKind::measured,
               choice({"measured", "affine", "atan"}),
               "time of a transfer by its size: as measured for PCIe 3.0 x16 (001, Table 1), "
               "transfer_setup + size / link_bandwidth, or a fitted arc tangent")
        .field("link_bandwidth", &P::link_bandwidth, Bandwidth{11.223e9},
               range(Bandwidth{1e6}, Bandwidth{1e13}),
               "bandwidth of each direction: of remote accesses, and of transfers with the affine "
               "curve")
        .field("transfer_setup", &P::transfer_setup, 900_ns, range(0_ns, 1_ms),
               "time of a transfer in addition to the time of its bytes")
        .field("atan_bandwidth", &P::atan_bandwidth, Bandwidth{10.01e9},
               range(Bandwidth{1e6}, Bandwidth{1e13}), "bandwidth of the largest transfers")
        .field("atan_slope", &P::atan_slope, 0.129, range(1e-6, 1e6),
               "how soon the largest bandwidth is reached, per KiB")
        .field("link_latency", &P::link_latency, 500_ns, range(10_ns, 1_ms),
               "latency of the host link, each way")
        .field("launch_overhead", &P::launch_overhead, 1_us, range(0_ns, 10_ms),
               "the driver's time per kernel launch, at the CPU")
        .field("collective_start", &P::collective_start, 26_us, range(0_ns, 10_ms),
               "time that a program and its library take before the kernels of a collective begin "
               "(by: kernel)")
        .field("lines_in_flight", &P::lines_in_flight, 4096, range(1, 1 << 20),
               "128-byte lines of transfers not yet acknowledged")
        .field("link_order", &P::link_order, TenantOrder::round_robin,
               choice({"fifo", "round-robin", "priority"}),
               "tenant whose transfer is next, among transfers that an access waits for, among "
               "prefetches, and among copies")
        .field("link_preempts_prefetch", &P::link_preempts_prefetch, false,
               "a transfer that an access waits for goes between the pages of a prefetch")
        .field("memory", &P::memory, 256_GiB, at_least(1_MiB),
               "capacity of host memory: all buffers of all tenants have a place in it")
        .part("uplinks", &P::uplinks, "list",
              "links that several GPUs share: [{gpus: [0, 1], bandwidth: 11.223GB/s}]; a GPU that "
              "no uplink names has its link for itself")
        .only_if("transfer_setup", "with link_curve: affine",
                 [](const P& p) { return p.link_curve == CurveKind::affine; })
        .only_if("atan_bandwidth atan_slope", "with link_curve: atan",
                 [](const P& p) { return p.link_curve == CurveKind::atan; });
  }
};

}  // namespace lockstep
