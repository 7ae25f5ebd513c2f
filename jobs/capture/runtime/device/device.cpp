/// The one device: the GPU that capture was told to offer.
#include <cstring>
#include <map>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/device/limits.hpp"

namespace lockstep::capture {
namespace {

constexpr int driver_version = LOCKSTEP_CUDA_MAJOR * 1000;

const DeviceDescription& device() {
  return Connection::get().device();
}

/// Attributes that are not 0, by number.
std::map<int, std::uint64_t> attributes() {
  const DeviceDescription& d = device();
  return {{1, threads_per_block},
          {2, threads_per_block},
          {3, threads_per_block},
          {4, largest_block_z},
          {5, largest_grid_x},
          {6, largest_grid},
          {7, largest_grid},
          {8, d.shared_bytes_unasked},
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
          {111, d.shared_bytes_reserved},
          {115, 1},
          {120, d.major >= 9 ? 1 : 0}};  // clusters
}

constexpr const char* bus_place = "0000:00:00.0";

/// Limits of the stack, printf's buffer and the heap, by number; values that programs set are kept
/// for later questions.
std::map<int, std::size_t>& limits() {
  static std::map<int, std::size_t> limits{{0, 1024}, {1, 1 << 20}, {2, 8 << 20}};
  return limits;
}

}  // namespace

LOCKSTEP_EXPORT Error cudaGetDeviceCount(int* count) {
  return give(count, 1);
}
LOCKSTEP_EXPORT Error cudaGetDevice(int* number) {
  return give(number, 0);
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
  return give(flags, 0);
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
LOCKSTEP_EXPORT Error cudaDeviceGetCacheConfig(int* preference) {
  return give(preference, 0);
}
LOCKSTEP_EXPORT Error cudaDeviceGetSharedMemConfig(int* bank) {
  constexpr int four_bytes = 1;
  return give(bank, four_bytes);
}
LOCKSTEP_EXPORT Error cudaCtxResetPersistingL2Cache() {
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceSetLimit(int limit, std::size_t value) {
  limits()[limit] = value;
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceGetLimit(std::size_t* value, int limit) {
  const auto found = limits().find(limit);
  return found == limits().end() ? noted(invalid_value) : give(value, found->second);
}
LOCKSTEP_EXPORT Error cudaDeviceGetPCIBusId(char* text, int bytes, int number) {
  if (!text || number != 0 || bytes <= static_cast<int>(std::strlen(bus_place)))
    return noted(number != 0 ? invalid_device : invalid_value);
  std::strcpy(text, bus_place);
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceGetByPCIBusId(int* number, const char* text) {
  if (!number || !text) return noted(invalid_value);
  *number = 0;
  return noted(std::strcmp(text, bus_place) == 0 ? success : invalid_device);
}
LOCKSTEP_EXPORT Error cudaDeviceGetP2PAttribute(int*, int, int, int) {
  return noted(invalid_device);  // a pair of devices, of which there is one
}
LOCKSTEP_EXPORT Error cudaDeviceDisablePeerAccess(int) {
  constexpr Error not_enabled = 705;
  return noted(not_enabled);
}
LOCKSTEP_EXPORT Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceCanAccessPeer(int* can, int, int) {
  return give(can, 0);
}
LOCKSTEP_EXPORT Error cudaDeviceEnablePeerAccess(int, unsigned) {
  return noted(peer_access_unsupported);
}
LOCKSTEP_EXPORT Error cudaDriverGetVersion(int* version) {
  return give(version, driver_version);
}
LOCKSTEP_EXPORT Error cudaRuntimeGetVersion(int* version) {
  return give(version, driver_version);
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
  return give(value, found == known.end() ? 0 : found->second);
}

}  // namespace lockstep::capture
