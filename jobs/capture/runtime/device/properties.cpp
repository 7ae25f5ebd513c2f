/// The structure of device properties.
#include <cstring>
#include <vector>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/device/current_device.hpp"
#include "jobs/capture/runtime/device/limits.hpp"

namespace lockstep::capture {

namespace {

const DeviceDescription& device() {
  return Connection::get().device();
}

/// A property: its offset in the structure, its size and its value.
struct Property {
  std::size_t offset, bytes;
  std::uint64_t value;
};

#if LOCKSTEP_CUDA_MAJOR >= 13
constexpr std::size_t structure_bytes = 1008;

std::vector<Property> properties() {
  const DeviceDescription& d = device();
  return {{288, 8, d.memory_bytes},
          {296, 8, d.shared_bytes_unasked},
          {304, 4, d.registers_per_sm},
          {308, 4, warp},
          {312, 8, 0x7fffffff},
          {320, 4, threads_per_block},
          {324, 4, threads_per_block},
          {328, 4, threads_per_block},
          {332, 4, largest_block_z},
          {336, 4, largest_grid_x},
          {340, 4, largest_grid},
          {344, 4, largest_grid},
          {352, 8, constant_bytes},
          {360, 4, d.major},
          {364, 4, d.minor},
          {368, 8, 512},
          {376, 8, 32},
          {384, 4, d.sms},
          {392, 4, 1},
          {560, 4, 1},
          {584, 4, 2},
          {588, 4, 1},
          {592, 4, d.memory_bus_bits},
          {596, 4, d.l2_bytes},
          {604, 4, d.threads_per_sm},
          {608, 4, 1},
          {612, 4, 1},
          {616, 4, 1},
          {624, 8, d.shared_bytes_per_sm},
          {632, 4, d.registers_per_sm},
          {636, 4, 1},
          {656, 4, 1},
          {668, 4, 1},
          {672, 8, d.shared_bytes_per_block},
          {688, 4, d.blocks_per_sm},
          {696, 8, d.shared_bytes_reserved},
          {720, 4, 1}};
}
#define LOCKSTEP_PROPERTIES cudaGetDeviceProperties
#else
constexpr std::size_t structure_bytes = LOCKSTEP_CUDA_MAJOR >= 12 ? 1032 : 728;

std::vector<Property> properties() {
  const DeviceDescription& d = device();
  return {{288, 8, d.memory_bytes},
          {296, 8, d.shared_bytes_unasked},
          {304, 4, d.registers_per_sm},
          {308, 4, warp},
          {312, 8, 0x7fffffff},
          {320, 4, threads_per_block},
          {324, 4, threads_per_block},
          {328, 4, threads_per_block},
          {332, 4, largest_block_z},
          {336, 4, largest_grid_x},
          {340, 4, largest_grid},
          {344, 4, largest_grid},
          {348, 4, d.clock_khz},
          {352, 8, constant_bytes},
          {360, 4, d.major},
          {364, 4, d.minor},
          {368, 8, 512},
          {376, 8, 32},
          {384, 4, 1},
          {388, 4, d.sms},
          {400, 4, 1},
          {576, 4, 1},
          {600, 4, 2},
          {604, 4, 1},
          {608, 4, d.memory_clock_khz},
          {612, 4, d.memory_bus_bits},
          {616, 4, d.l2_bytes},
          {624, 4, d.threads_per_sm},
          {628, 4, 1},
          {632, 4, 1},
          {636, 4, 1},
          {640, 8, d.shared_bytes_per_sm},
          {648, 4, d.registers_per_sm},
          {652, 4, 1},
          {676, 4, 1},
          {688, 4, 1},
          {696, 8, d.shared_bytes_per_block},
          {712, 4, d.blocks_per_sm},
          {720, 8, d.shared_bytes_reserved},
          {728, 4, 1}};  // behind the end of the properties in version 11
}
#if LOCKSTEP_CUDA_MAJOR >= 12
#define LOCKSTEP_PROPERTIES cudaGetDeviceProperties_v2
#else
#define LOCKSTEP_PROPERTIES cudaGetDeviceProperties
#endif
#endif

}  // namespace

LOCKSTEP_EXPORT Error LOCKSTEP_PROPERTIES(void* to, int number) {
  if (!is_device_number(number)) return noted(invalid_device);
  if (!to) return noted(invalid_value);
  std::memset(to, 0, structure_bytes);
  std::memcpy(to, device().name, sizeof device().name);
  for (const Property& property : properties())
    if (property.offset < structure_bytes)
      std::memcpy(static_cast<char*>(to) + property.offset, &property.value, property.bytes);
  return success;
}

}  // namespace lockstep::capture
