#include "jobs/capture/device_description.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lockstep::capture {

namespace {

/// Shared memory of a block, on every GPU that can give a block more.
constexpr std::uint32_t usual_shared_bytes = 48 << 10;
constexpr std::uint32_t first_with_reserved = 80, reserved_bytes = 1 << 10;

/// Returns the width of the memory bus from which programs compute the bandwidth: two transfers a
/// cycle of the memory's clock.
std::uint32_t bus_bits(const MemoryParameters& memory) {
  return static_cast<std::uint32_t>(
      std::lround(8 * static_cast<double>(memory.bytes_per_second()) /
                  (2 * static_cast<double>(memory.dram.clock.hertz()))));
}

}  // namespace

std::uint32_t architecture_of(const GpuParameters& gpu) {
  std::uint32_t number = 0;
  for (const char c : gpu.compute_capability)
    if (c != '.') number = 10 * number + static_cast<std::uint32_t>(c - '0');
  return number;
}

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
  device.memory_clock_khz = static_cast<std::uint32_t>(gpu.memory.dram.clock.hertz() / 1000);
  device.memory_bus_bits = bus_bits(gpu.memory);
  device.registers_per_sm = limits.registers;
  device.threads_per_sm = limits.threads;
  device.blocks_per_sm = limits.blocks;
  device.shared_bytes_per_sm = limits.shared_bytes;
  device.shared_bytes_per_block = limits.shared_bytes_per_block;
  device.shared_bytes_unasked = std::min(limits.shared_bytes_per_block, usual_shared_bytes);
  device.shared_bytes_reserved = architecture_of(gpu) >= first_with_reserved ? reserved_bytes : 0;
  device.major = architecture_of(gpu) / 10;
  device.minor = architecture_of(gpu) % 10;
  return device;
}

}  // namespace lockstep::capture
