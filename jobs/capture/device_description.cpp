#include "jobs/capture/device_description.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep::capture {

OccupancyLimits limits_of(const GpuParameters& gpu) {
  return gpu.sm.occupancy_limits(0);
}

DeviceDescription describe_device(const GpuParameters& gpu) {
  DeviceDescription device;
  const OccupancyLimits limits = limits_of(gpu);
  const std::string name = "Lockstep " + gpu.name;
  std::memcpy(device.name, name.data(), std::min(name.size(), sizeof device.name - 1));
  device.memory_bytes = gpu.memory.capacity.count();
  device.l2_bytes = gpu.memory.partitions * gpu.memory.l2.slices * gpu.memory.l2.size.count();
  device.sms = gpu.sm.count;
  device.clock_khz = static_cast<std::uint32_t>(gpu.sm.clock.hertz() / 1000);
  device.memory_clock_khz = static_cast<std::uint32_t>(gpu.memory.clock.hertz() / 1000);
  device.memory_bus_bits = 128 * gpu.memory.partitions;
  device.registers_per_sm = limits.registers;
  device.threads_per_sm = limits.threads;
  device.blocks_per_sm = limits.blocks;
  device.shared_bytes_per_sm = limits.shared_bytes;
  device.shared_bytes_per_block = limits.shared_bytes_per_block;
  device.major = offered_architecture / 10;
  device.minor = offered_architecture % 10;
  return device;
}

}  // namespace lockstep::capture
