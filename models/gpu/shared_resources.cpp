#include "models/gpu/shared_resources.hpp"

#include <array>

namespace lockstep {

std::span<const SharedResource> shared_resources() {
  static constexpr std::array resources = {
      SharedResource{"l2_bank", "partition", "l2_wait_behind", "ns",
                     "requests of the first tenant waited at an L2 bank that the second one held",
                     [](const GpuParameters& gpu) { return gpu.memory.clock; }},
      SharedResource{"dram", "partition", "dram_wait_behind", "ns",
                     "requests of the first waited while a DRAM channel served the second",
                     [](const GpuParameters& gpu) { return gpu.memory.dram.clock; }},
      SharedResource{"walkers", "gmmu", "walker_wait_behind", "ns",
                     "walks of the first waited for a walker that the second gave up",
                     [](const GpuParameters& gpu) { return gpu.vm.clock; }},
      SharedResource{"l2_evictions", "partition", "evicted_by", "lines",
                     "lines of the first left the L2 for one of the second"},
  };
  return resources;
}

}  // namespace lockstep
