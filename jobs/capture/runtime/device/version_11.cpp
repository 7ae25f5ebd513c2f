/// Entries that version 12 took away.
#include <cstring>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/textures/headers.hpp"

#if LOCKSTEP_CUDA_MAJOR < 12

namespace lockstep::capture {

LOCKSTEP_EXPORT Error cudaDeviceReset();
LOCKSTEP_EXPORT Error cudaDeviceSetLimit(int limit, std::size_t value);
LOCKSTEP_EXPORT Error cudaDeviceGetLimit(std::size_t* value, int limit);
LOCKSTEP_EXPORT Error cudaDeviceSetCacheConfig(int preference);
LOCKSTEP_EXPORT Error cudaCreateTextureObject(std::uint64_t* handle,
                                              const ResourceDescription* resource,
                                              const TextureDescription* texture, const void* view);
LOCKSTEP_EXPORT Error cudaGetTextureObjectTextureDesc(TextureDescription* texture,
                                                      std::uint64_t handle);

LOCKSTEP_EXPORT Error cudaThreadExit() {
  return cudaDeviceReset();
}
LOCKSTEP_EXPORT Error cudaThreadSetLimit(int limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
LOCKSTEP_EXPORT Error cudaThreadGetLimit(std::size_t* value, int limit) {
  return cudaDeviceGetLimit(value, limit);
}
LOCKSTEP_EXPORT Error cudaThreadSetCacheConfig(int preference) {
  return cudaDeviceSetCacheConfig(preference);
}
LOCKSTEP_EXPORT Error cudaThreadGetCacheConfig(int* preference) {
  *preference = 0;
  return success;
}
/// Machines without double precision are older than any that is simulated.
LOCKSTEP_EXPORT Error cudaSetDoubleForDevice(double*) {
  return success;
}
LOCKSTEP_EXPORT Error cudaSetDoubleForHost(double*) {
  return success;
}
LOCKSTEP_EXPORT Error cudaProfilerInitialize(const char*, const char*, int) {
  return success;
}

/// Takes the description with one field more, of cubes.
LOCKSTEP_EXPORT Error cudaCreateTextureObject_v2(std::uint64_t* handle,
                                                 const ResourceDescription* resource,
                                                 const TextureDescription* texture,
                                                 const void* view) {
  return cudaCreateTextureObject(handle, resource, texture, view);
}
LOCKSTEP_EXPORT Error cudaGetTextureObjectTextureDesc_v2(TextureDescription* texture,
                                                         std::uint64_t handle) {
  const Error error = cudaGetTextureObjectTextureDesc(texture, handle);
  constexpr int seamless_cube = 0;
  if (error == success)
    std::memcpy(static_cast<void*>(texture + 1), &seamless_cube, sizeof seamless_cube);
  return error;
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_UNSUPPORTED(name) \
  LOCKSTEP_EXPORT Error name() {   \
    return unsupported(#name);     \
  }
LOCKSTEP_UNSUPPORTED(cudaBindTextureToMipmappedArray)
LOCKSTEP_UNSUPPORTED(cudaLaunchCooperativeKernelMultiDevice)
LOCKSTEP_UNSUPPORTED(cudaSignalExternalSemaphoresAsync_v2)
LOCKSTEP_UNSUPPORTED(cudaSignalExternalSemaphoresAsync_v2_ptsz)
LOCKSTEP_UNSUPPORTED(cudaStreamGetCaptureInfo_v2)
LOCKSTEP_UNSUPPORTED(cudaStreamGetCaptureInfo_v2_ptsz)
LOCKSTEP_UNSUPPORTED(cudaWaitExternalSemaphoresAsync_v2)
LOCKSTEP_UNSUPPORTED(cudaWaitExternalSemaphoresAsync_v2_ptsz)

}  // namespace lockstep::capture

#endif
