/// The devices and their contexts.
///
/// Simplified: contexts share all memory and modules; they differ only in their device, and each
/// thread has a current one.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "jobs/capture/runtime/device/current_device.hpp"
#include "jobs/capture/runtime/driver/driver.hpp"
#include "jobs/capture/runtime/loaded_file.hpp"

namespace lockstep::capture {
LOCKSTEP_EXPORT Error cudaDeviceGetAttribute(int* value, int attribute, int number);
LOCKSTEP_EXPORT Error cudaDeviceSynchronize();
LOCKSTEP_EXPORT Error cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                     std::size_t bytes);
LOCKSTEP_EXPORT Error cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                          int from_device, std::size_t bytes, StreamHandle stream);
}  // namespace lockstep::capture

namespace lockstep::capture::driver {
namespace {

struct Context {
  unsigned flags = 0;
  int device = 0;
};

struct Primary {
  Context context;
  int users = 0;
};
Primary& primary_of(int device) {
  static std::array<Primary, most_devices> all;
  Primary& primary = all[static_cast<std::size_t>(device)];
  primary.context.device = device;
  return primary;
}
thread_local std::vector<Context*> contexts;

constexpr Error no_context = 201;

bool is_primary(const Context* context) {
  return context == &primary_of(context->device).context;
}

/// The device of the current context is that of the thread's calls.
Error follow_current() {
  if (!contexts.empty() && contexts.back()) set_current_device(contexts.back()->device);
  return success;
}

}  // namespace

LOCKSTEP_DRIVER Error cuInit(unsigned flags) {
  return flags == 0 ? success : invalid_value;
}
LOCKSTEP_DRIVER Error cuDeviceGet(int* device, int number) {
  if (!is_device_number(number)) return invalid_device;
  return apart([&] { return give(device, number); });
}
LOCKSTEP_DRIVER Error cuDeviceGetName(char* name, int bytes, int) {
  if (!name || bytes <= 0) return invalid_value;
  std::strncpy(name, Connection::get().device().name, static_cast<std::size_t>(bytes));
  name[bytes - 1] = '\0';
  return success;
}
LOCKSTEP_DRIVER Error cuDeviceGetUuid_v2(unsigned char* uuid, int) {
  if (!uuid) return invalid_value;
  std::memset(uuid, 0, 16);
  return success;
}
LOCKSTEP_DRIVER Error cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  return apart([&] { return give(bytes, Connection::get().device().memory_bytes); });
}
LOCKSTEP_DRIVER Error cuDeviceGetAttribute(int* value, int attribute, int device) {
  return apart([&] { return cudaDeviceGetAttribute(value, attribute, device); });
}
LOCKSTEP_DRIVER Error cuDeviceComputeCapability(int* major, int* minor, int) {
  if (!major || !minor) return invalid_value;
  *major = static_cast<int>(Connection::get().device().major);
  *minor = static_cast<int>(Connection::get().device().minor);
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxRetain(Context** context, int device) {
  if (!is_device_number(device)) return invalid_device;
  if (!context) return invalid_value;
  ++primary_of(device).users;
  *context = &primary_of(device).context;
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxRelease_v2(int device) {
  if (!is_device_number(device)) return invalid_device;
  if (primary_of(device).users == 0) return no_context;
  --primary_of(device).users;
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  if (!is_device_number(device)) return invalid_device;
  primary_of(device).context.flags = flags;
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
  if (!is_device_number(device)) return invalid_device;
  if (!flags || !is_active) return invalid_value;
  *flags = primary_of(device).context.flags;
  *is_active = primary_of(device).users > 0 ? 1 : 0;
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxReset_v2(int device) {
  if (!is_device_number(device)) return invalid_device;
  primary_of(device).users = 0;
  return success;
}

LOCKSTEP_DRIVER Error cuCtxCreate_v2(Context** context, unsigned flags, int device) {
  if (!is_device_number(device)) return invalid_device;
  if (!context) return invalid_value;
  *context = new Context{flags, device};
  contexts.push_back(*context);
  return follow_current();
}
/// Makes a context; parameters of affinity stand in between.
LOCKSTEP_DRIVER Error cuCtxCreate_v3(Context** context, const void*, int, unsigned flags,
                                     int device) {
  return cuCtxCreate_v2(context, flags, device);
}
LOCKSTEP_DRIVER Error cuCtxCreate_v4(Context** context, const void*, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}
LOCKSTEP_DRIVER Error cuCtxDestroy_v2(Context* context) {
  if (!context || is_primary(context)) return no_context;
  std::erase(contexts, context);
  delete context;
  return follow_current();
}
LOCKSTEP_DRIVER Error cuCtxPushCurrent_v2(Context* context) {
  contexts.push_back(context);
  return follow_current();
}
LOCKSTEP_DRIVER Error cuCtxPopCurrent_v2(Context** context) {
  if (contexts.empty()) return no_context;
  if (context) *context = contexts.back();
  contexts.pop_back();
  return follow_current();
}
LOCKSTEP_DRIVER Error cuCtxSetCurrent(Context* context) {
  if (!contexts.empty()) contexts.pop_back();
  if (context) contexts.push_back(context);
  return follow_current();
}
LOCKSTEP_DRIVER Error cuCtxGetCurrent(Context** context) {
  if (!context) return invalid_value;
  *context = contexts.empty() ? nullptr : contexts.back();
  return success;
}
LOCKSTEP_DRIVER Error cuCtxGetDevice(int* device) {
  if (!device) return invalid_value;
  *device = contexts.empty() ? 0 : contexts.back()->device;
  return contexts.empty() ? no_context : Error{success};
}
/// Tells the device of a context that need not be current.
LOCKSTEP_DRIVER Error cuCtxGetDevice_v2(int* device, Context* context) {
  return apart([&] { return give(device, context ? context->device : current_device()); });
}
/// All contexts of a device see the same.
LOCKSTEP_DRIVER Error cuCtxEnablePeerAccess(Context* peer, unsigned flags) {
  if (!peer || flags != 0) return invalid_value;
  return apart([&] { return change_peer_access(current_device(), peer->device, true); });
}
LOCKSTEP_DRIVER Error cuCtxDisablePeerAccess(Context* peer) {
  if (!peer) return invalid_value;
  return apart([&] { return change_peer_access(current_device(), peer->device, false); });
}
LOCKSTEP_DRIVER Error cuMemcpyPeer(DeviceAddress to, Context* to_context, DeviceAddress from,
                                   Context* from_context, std::size_t bytes) {
  if (!to_context || !from_context) return no_context;
  return apart([&] {
    return cudaMemcpyPeer(pointer(to), to_context->device, pointer(from), from_context->device,
                          bytes);
  });
}
LOCKSTEP_DRIVER Error cuMemcpyPeerAsync(DeviceAddress to, Context* to_context, DeviceAddress from,
                                        Context* from_context, std::size_t bytes,
                                        StreamHandle stream) {
  if (!to_context || !from_context) return no_context;
  return apart([&] {
    return cudaMemcpyPeerAsync(pointer(to), to_context->device, pointer(from), from_context->device,
                               bytes, stream);
  });
}
LOCKSTEP_DRIVER Error cuCtxGetFlags(unsigned* flags) {
  if (contexts.empty()) return no_context;
  if (!flags) return invalid_value;
  *flags = contexts.back()->flags;
  return success;
}
LOCKSTEP_DRIVER Error cuCtxGetApiVersion(Context*, unsigned* version) {
  return apart([&] { return give(version, LOCKSTEP_CUDA_MAJOR * 1000); });
}
LOCKSTEP_DRIVER Error cuStreamGetCtx(StreamHandle, Context** context) {
  if (!context) return invalid_value;
  *context = contexts.empty() ? &primary_of(current_device()).context : contexts.back();
  return success;
}

LOCKSTEP_DRIVER Error cuStreamGetCtx_v2(StreamHandle stream, Context** context, void** green) {
  if (green) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
LOCKSTEP_DRIVER Error cuCtxSynchronize_v2(Context*) {
  return apart([] { return cudaDeviceSynchronize(); });
}

/// Returns no table, since the tables are not documented.  NVRTC works without the one that it asks
/// for.  Other callers are CUDA runtimes inside of the program or of a library, and libraries that
/// bypass the runtime; capture cannot follow them.  `lockstep capture` reports this.
LOCKSTEP_DRIVER Error cuGetExportTable(const void** table, const void* id) {
  constexpr unsigned char of_nvrtc[] = {0xda, 0x91, 0x51, 0xd3, 0x3a, 0xe6, 0xcc, 0x41,
                                        0xa5, 0xc0, 0x4f, 0x26, 0xd5, 0x33, 0xe3, 0x28};
  if (!table || !id) return invalid_value;
  *table = nullptr;
  if (std::memcmp(id, of_nvrtc, sizeof of_nvrtc) == 0) return not_found;
  const LoadedFile file = file_around(__builtin_return_address(0));
  Connection::get().ask(Operation::other_runtime, {file.is_program ? 1u : 0u}, bytes_of(file.name));
  return not_found;
}

}  // namespace lockstep::capture::driver
