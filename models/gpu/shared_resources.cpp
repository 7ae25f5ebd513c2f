#include "models/gpu/shared_resources.hpp"

#include <array>
#include <string_view>

namespace lockstep {

std::span<const SharedResource> shared_resources() {
  constexpr auto l2 = [](const GpuParameters& gpu) { return gpu.memory.clock; };
  constexpr auto vm = [](const GpuParameters& gpu) { return gpu.vm.clock; };
  static constexpr std::array resources = {
      SharedResource{"input_port", "partition", "port_wait_behind", "ns",
                     "requests of the first tenant waited at a partition's port, behind the second",
                     l2},
      SharedResource{"l2_bank", "partition", "l2_wait_behind", "ns",
                     "requests of the first tenant waited at an L2 bank that the second one held",
                     l2},
      SharedResource{"response_port", "partition", "response_wait_behind", "ns",
                     "answers to the first waited for a partition's port behind one to the second",
                     l2},
      SharedResource{"dram", "partition", "dram_wait_behind", "ns",
                     "requests of the first waited while a DRAM channel served the second",
                     [](const GpuParameters& gpu) { return gpu.memory.dram.clock; }},
      SharedResource{"tlb_ports", "gmmu", "tlb_port_wait_behind", "ns",
                     "requests of the first waited for a port of the second-level TLB behind the "
                     "second",
                     vm},
      SharedResource{
          "tlb_mshrs", "gmmu", "mshr_wait_behind", "ns",
          "misses of the first waited for an MSHR until a walk of the second released one", vm},
      SharedResource{
          "walkers", "gmmu", "walker_wait_behind", "ns",
          "walks of the first waited for a walker until a walk of the second released one", vm},
      SharedResource{"fault_service", "host", "fault_wait_behind", "ns",
                     "faults of the first waited for the driver, which served the second before"},
      SharedResource{"link_to_host", "link", "wait_behind", "ns",
                     "transfers of the first waited while the second held the link to the host",
                     nullptr, 0},
      SharedResource{"link_to_gpu", "link", "wait_behind", "ns",
                     "transfers of the first waited while the second held the link to the GPU",
                     nullptr, 1},
      SharedResource{"l2_evictions", "partition", "evicted_by", "lines",
                     "lines of the first left the L2 for one of the second"},
      SharedResource{"tlb_evictions", "gmmu", "tlb_evicted_by", "entries",
                     "entries of the first left the second-level TLB for one of the second"},
  };
  return resources;
}

const SharedResource& shared_uplink() {
  static constexpr SharedResource uplink{
      "uplink", "uplink", "wait_behind", "ns",
      "lines of the first waited while the second's went over an uplink that several GPUs share, "
      "in either direction; only with host.uplinks"};
  return uplink;
}

std::span<const SharedResource> port_resources() {
  static constexpr std::array resources = {
      SharedResource{"port_out", "port", "out_wait_behind", "ns",
                     "packets of the first waited while the second's left the GPU for others; only "
                     "with a fabric"},
      SharedResource{"port_in", "port", "in_wait_behind", "ns",
                     "packets of the first waited while the second's came in from a switch; only "
                     "with a fabric"},
  };
  return resources;
}

double SharedResource::scale(const GpuParameters& gpu) const {
  if (clock != nullptr) return 1e9 / clock(gpu).hertz();
  return std::string_view(unit) == "ns" ? 1e-6 : 1;
}

}  // namespace lockstep
