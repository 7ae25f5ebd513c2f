/// The one device: the GPU that capture was told to offer.
#include <cstring>
#include <map>

#include "jobs/capture/runtime/connection.hpp"

namespace lockstep::capture {
namespace {

constexpr int driver_version = LOCKSTEP_CUDA_MAJOR * 1000;
constexpr int warp = 32, threads_per_block = 1024, constant_bytes = 65536;
constexpr int largest_grid_x = 0x7fffffff, largest_grid = 65535, largest_block_z = 64;

const DeviceDescription& device() {
  return Connection::get().device();
}

/// By number of the attribute, of those that are not 0.
std::map<int, std::uint64_t> attributes() {
  const DeviceDescription& d = device();
  return {{1, threads_per_block},
          {2, threads_per_block},
          {3, threads_per_block},
          {4, largest_block_z},
          {5, largest_grid_x},
          {6, largest_grid},
          {7, largest_grid},
          {8, d.shared_bytes_per_block},
          {9, constant_bytes},
          {10, warp},
          {11, 0x7fffffff},
          {12, d.registers_per_sm},
          {13, d.clock_khz},
          {14, 512},
          {15, 1},
          {16, d.sms},
          {19, 1},
          {31, 1},
          {36, d.memory_clock_khz},
          {37, d.memory_bus_bits},
          {38, d.l2_bytes},
          {39, d.threads_per_sm},
          {40, 2},
          {41, 1},
          {75, d.major},
          {76, d.minor},
          {78, 1},
          {79, 1},
          {80, 1},
          {81, d.shared_bytes_per_sm},
          {82, d.registers_per_sm},
          {83, 1},
          {89, 1},
          {95, 1},
          {97, d.shared_bytes_per_block},
          {106, d.blocks_per_sm},
          {115, 1}};
}

/// A property: its place in the structure, its size, its value.
struct Property {
  std::size_t offset, bytes;
  std::uint64_t value;
};

/// Places of version 13.
std::vector<Property> properties() {
  const DeviceDescription& d = device();
  return {{288, 8, d.memory_bytes},
          {296, 8, d.shared_bytes_per_block},
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
          {720, 4, 1}};
}

}  // namespace

LOCKSTEP_EXPORT Error cudaGetDeviceCount(int* count) {
  *count = 1;
  return success;
}
LOCKSTEP_EXPORT Error cudaGetDevice(int* number) {
  *number = 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaSetDevice(int number) {
  return noted(number == 0 ? success : invalid_device);
}
LOCKSTEP_EXPORT Error cudaInitDevice(int number, unsigned, unsigned) {
  return cudaSetDevice(number);
}
LOCKSTEP_EXPORT Error cudaChooseDevice(int* number, const void*) {
  return cudaGetDevice(number);
}
LOCKSTEP_EXPORT Error cudaSetDeviceFlags(unsigned) {
  return success;
}
LOCKSTEP_EXPORT Error cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaSetValidDevices(int*, int) {
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceReset() {
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceSetCacheConfig(int) {
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceSetSharedMemConfig(int) {
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceSetLimit(int, std::size_t) {
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceEnablePeerAccess(int, unsigned) {
  return noted(peer_access_unsupported);
}
LOCKSTEP_EXPORT Error cudaDriverGetVersion(int* version) {
  *version = driver_version;
  return success;
}
LOCKSTEP_EXPORT Error cudaRuntimeGetVersion(int* version) {
  *version = driver_version;
  return success;
}
LOCKSTEP_EXPORT Error cudaProfilerStart() {
  return success;
}
LOCKSTEP_EXPORT Error cudaProfilerStop() {
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceGetAttribute(int* value, int attribute, int number) {
  if (number != 0) return noted(invalid_device);
  const auto known = attributes();
  const auto found = known.find(attribute);
  *value = found == known.end() ? 0 : static_cast<int>(found->second);
  return success;
}
#if LOCKSTEP_CUDA_MAJOR >= 13
LOCKSTEP_EXPORT Error cudaGetDeviceProperties(void* to, int number) {
  constexpr std::size_t bytes = 1008;
  if (number != 0) return noted(invalid_device);
  std::memset(to, 0, bytes);
  std::memcpy(to, device().name, sizeof device().name);
  for (const Property& property : properties())
    std::memcpy(static_cast<char*>(to) + property.offset, &property.value, property.bytes);
  return success;
}
#endif

}  // namespace lockstep::capture
