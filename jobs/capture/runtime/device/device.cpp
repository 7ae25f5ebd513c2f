/// The devices: as many GPUs of a kind as capture was told to offer.
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/device/current_device.hpp"
#include "jobs/capture/runtime/device/limits.hpp"

namespace lockstep::capture {
namespace {

constexpr int driver_version = LOCKSTEP_CUDA_MAJOR * 1000;

const DeviceDescription& device() {
  return Connection::get().device();
}

/// Returns the attributes that are not 0, by number.
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

std::string bus_place(int number) {
  constexpr const char* digits = "0123456789abcdef";
  std::string place = "0000:00:00.0";
  place[6] = digits[number % 16];
  return place;
}

thread_local int chosen = 0;

using Pair = std::pair<int, int>;  // pair of devices: the first one sees the memory of the second
std::set<Pair>& peers() {
  static std::set<Pair> pairs;
  return pairs;
}

/// Returns limits of the stack, printf's buffer and the heap, by number; values set by programs are
/// kept for later queries.
std::map<int, std::size_t>& limits() {
  static std::map<int, std::size_t> limits{{0, 1024}, {1, 1 << 20}, {2, 8 << 20}};
  return limits;
}

}  // namespace

int current_device() {
  return chosen;
}
void set_current_device(int number) {
  chosen = number;
}
bool is_device_number(int number) {
  return number >= 0 && number < static_cast<int>(device().devices);
}

Error change_peer_access(int from, int peer, bool is_on) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!is_device_number(peer) || peer == from) return invalid_device;
  if (peers().contains({from, peer}) == is_on)
    return is_on ? peer_access_enabled : peer_access_not_enabled;
  if (is_on) {
    peers().insert({from, peer});
  } else {
    peers().erase({from, peer});
  }
  return Connection::get()
      .ask(Operation::peer_access,
           {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(peer), is_on ? 1u : 0u})
      .status;
}

LOCKSTEP_EXPORT Error cudaGetDeviceCount(int* count) {
  return give(count, device().devices);
}
LOCKSTEP_EXPORT Error cudaGetDevice(int* number) {
  return give(number, current_device());
}
LOCKSTEP_EXPORT Error cudaSetDevice(int number) {
  if (!is_device_number(number)) return noted(invalid_device);
  set_current_device(number);
  return success;
}
LOCKSTEP_EXPORT Error cudaInitDevice(int number, unsigned, unsigned) {
  return noted(is_device_number(number) ? success : invalid_device);
}
LOCKSTEP_EXPORT Error cudaChooseDevice(int* number, const void*) {
  return give(number, 0);  // all devices are equal
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
  if (!is_device_number(number)) return noted(invalid_device);
  const std::string place = bus_place(number);
  if (!text || bytes <= static_cast<int>(place.size())) return noted(invalid_value);
  std::strcpy(text, place.c_str());
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceGetByPCIBusId(int* number, const char* text) {
  if (!number || !text) return noted(invalid_value);
  for (int found = 0; is_device_number(found); ++found) {
    if (bus_place(found) != text) continue;
    *number = found;
    return success;
  }
  return noted(invalid_device);
}
LOCKSTEP_EXPORT Error cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  constexpr int performance_rank = 1, last_attribute = 4;
  if (!is_device_number(from) || !is_device_number(to) || from == to) return noted(invalid_device);
  if (attribute < performance_rank || attribute > last_attribute) return noted(invalid_value);
  return give(value, attribute == performance_rank ? 0 : 1);
}
LOCKSTEP_EXPORT Error cudaDeviceDisablePeerAccess(int peer) {
  return noted(change_peer_access(current_device(), peer, false));
}
LOCKSTEP_EXPORT Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceCanAccessPeer(int* can, int from, int to) {
  if (!is_device_number(from) || !is_device_number(to)) return noted(invalid_device);
  return give(can, from == to ? 0 : 1);
}
LOCKSTEP_EXPORT Error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (flags != 0) return noted(invalid_value);
  return noted(change_peer_access(current_device(), peer, true));
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
  if (!is_device_number(number)) return noted(invalid_device);
  const auto known = attributes();
  const auto found = known.find(attribute);
  return give(value, found == known.end() ? 0 : found->second);
}

}  // namespace lockstep::capture
