/// How programs ask for the driver's entries by name.
#include <string>

#include "jobs/capture/runtime/driver/driver.hpp"

namespace lockstep::capture::driver {
namespace {

/// Versions of an entry that only programs from a certain version on mean by its plain name.
struct Since {
  const char* name;
  int version;
};
constexpr Since newer[] = {{"cuCtxCreate_v3", 11040},       {"cuCtxCreate_v4", 12050},
                           {"cuCtxGetDevice_v2", 13000},    {"cuCtxSynchronize_v2", 13000},
                           {"cuGraphExecUpdate_v2", 12000}, {"cuMemcpyBatchAsync_v2", 13000},
                           {"cuStreamGetCtx_v2", 12050},    {"cuMemPrefetchAsync_v2", 12020},
                           {"cuMemAdvise_v2", 12020},       {"cuGetProcAddress_v2", 12000}};

void* exactly(const std::string& name, int version) {
  for (const Since& since : newer)
    if (name == since.name && version < since.version) return nullptr;
  return entry_named(name);
}

enum QueryResult : int { found = 0, no_such_symbol = 1 };

Error entry_point(const char* name, void** address, int version, int* result) {
  *address = find_entry(name, version);
  if (result) *result = *address ? found : no_such_symbol;
  return *address || result ? success : not_found;
}

}  // namespace

void* find_entry(const char* name, int version) {
  for (const char* suffix : {"_v4", "_v3", "_v2", ""})
    if (void* address = exactly(std::string(name) + suffix, version)) return address;
  return nullptr;
}

LOCKSTEP_DRIVER Error cuGetProcAddress(const char* name, void** address, int version,
                                       std::uint64_t) {
  return entry_point(name, address, version, nullptr);
}
LOCKSTEP_DRIVER Error cuGetProcAddress_v2(const char* name, void** address, int version,
                                          std::uint64_t, int* result) {
  return entry_point(name, address, version, result);
}

/// Returns the entry of exactly this name, for libcuda.so.1.
LOCKSTEP_EXPORT void* cudaLockstepDriverEntry(const char* name) {
  return entry_named(name);
}
#if LOCKSTEP_CUDA_MAJOR >= 12
LOCKSTEP_EXPORT Error cudaGetDriverEntryPoint(const char* name, void** address, unsigned long long,
                                              int* result) {
  return noted(entry_point(name, address, LOCKSTEP_CUDA_MAJOR * 1000, result));
}
#else
LOCKSTEP_EXPORT Error cudaGetDriverEntryPoint(const char* name, void** address,
                                              unsigned long long) {
  return noted(entry_point(name, address, LOCKSTEP_CUDA_MAJOR * 1000, nullptr));
}
#endif
LOCKSTEP_EXPORT Error cudaGetDriverEntryPointByVersion(const char* name, void** address,
                                                       unsigned version, unsigned long long,
                                                       int* result) {
  return noted(entry_point(name, address, static_cast<int>(version), result));
}

}  // namespace lockstep::capture::driver
