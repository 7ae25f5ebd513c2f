/// The device and contexts on it.
///
/// Simplified: contexts share all memory and modules, as they have one device; what they are told
/// apart by is who is current in a thread.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "jobs/capture/runtime/driver/driver.hpp"

namespace lockstep::capture {
LOCKSTEP_EXPORT Error cudaDeviceGetAttribute(int* value, int attribute, int number);
}

namespace lockstep::capture::driver {
namespace {

struct Context {
  unsigned flags = 0;
};

Context primary;
int primary_users = 0;
thread_local std::vector<Context*> contexts;

constexpr Error no_context = 201;

}  // namespace

LOCKSTEP_DRIVER Error cuInit(unsigned flags) {
  return flags == 0 ? success : invalid_value;
}
LOCKSTEP_DRIVER Error cuDeviceGet(int* device, int number) {
  *device = 0;
  return number == 0 ? success : invalid_device;
}
LOCKSTEP_DRIVER Error cuDeviceGetName(char* name, int bytes, int) {
  if (!name || bytes <= 0) return invalid_value;
  std::strncpy(name, Connection::get().device().name, static_cast<std::size_t>(bytes));
  name[bytes - 1] = '\0';
  return success;
}
LOCKSTEP_DRIVER Error cuDeviceGetUuid_v2(unsigned char* uuid, int) {
  std::memset(uuid, 0, 16);
  return success;
}
LOCKSTEP_DRIVER Error cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = Connection::get().device().memory_bytes;
  return success;
}
LOCKSTEP_DRIVER Error cuDeviceGetAttribute(int* value, int attribute, int device) {
  return apart([&] { return cudaDeviceGetAttribute(value, attribute, device); });
}
LOCKSTEP_DRIVER Error cuDeviceComputeCapability(int* major, int* minor, int) {
  *major = static_cast<int>(Connection::get().device().major);
  *minor = static_cast<int>(Connection::get().device().minor);
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxRetain(Context** context, int device) {
  if (device != 0) return invalid_device;
  ++primary_users;
  *context = &primary;
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxRelease_v2(int) {
  if (primary_users == 0) return no_context;
  --primary_users;
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxSetFlags_v2(int, unsigned flags) {
  primary.flags = flags;
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxGetState(int, unsigned* flags, int* is_active) {
  *flags = primary.flags;
  *is_active = primary_users > 0 ? 1 : 0;
  return success;
}
LOCKSTEP_DRIVER Error cuDevicePrimaryCtxReset_v2(int) {
  primary_users = 0;
  return success;
}

LOCKSTEP_DRIVER Error cuCtxCreate_v2(Context** context, unsigned flags, int device) {
  if (device != 0) return invalid_device;
  *context = new Context{flags};
  contexts.push_back(*context);
  return success;
}
LOCKSTEP_DRIVER Error cuCtxCreate_v4(Context** context, const void*, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}
LOCKSTEP_DRIVER Error cuCtxDestroy_v2(Context* context) {
  if (!context || context == &primary) return no_context;
  std::erase(contexts, context);
  delete context;
  return success;
}
LOCKSTEP_DRIVER Error cuCtxPushCurrent_v2(Context* context) {
  contexts.push_back(context);
  return success;
}
LOCKSTEP_DRIVER Error cuCtxPopCurrent_v2(Context** context) {
  if (contexts.empty()) return no_context;
  if (context) *context = contexts.back();
  contexts.pop_back();
  return success;
}
LOCKSTEP_DRIVER Error cuCtxSetCurrent(Context* context) {
  if (!contexts.empty()) contexts.pop_back();
  if (context) contexts.push_back(context);
  return success;
}
LOCKSTEP_DRIVER Error cuCtxGetCurrent(Context** context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return success;
}
LOCKSTEP_DRIVER Error cuCtxGetDevice(int* device) {
  *device = 0;
  return contexts.empty() ? no_context : Error{success};
}
LOCKSTEP_DRIVER Error cuCtxGetFlags(unsigned* flags) {
  if (contexts.empty()) return no_context;
  *flags = contexts.back()->flags;
  return success;
}
LOCKSTEP_DRIVER Error cuCtxGetApiVersion(Context*, unsigned* version) {
  *version = LOCKSTEP_CUDA_MAJOR * 1000;
  return success;
}
LOCKSTEP_DRIVER Error cuStreamGetCtx(StreamHandle, Context** context) {
  *context = contexts.empty() ? &primary : contexts.back();
  return success;
}

/// Tables that only a CUDA runtime knows of: there is one inside of the program, and what it does
/// cannot be followed.  `lockstep capture` says how to build the program.
LOCKSTEP_DRIVER Error cuGetExportTable(const void**, const void*) {
  std::_Exit(1);
}

}  // namespace lockstep::capture::driver
