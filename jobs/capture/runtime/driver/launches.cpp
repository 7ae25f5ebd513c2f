/// Launches, attributes of functions, occupancy.
#include "jobs/capture/runtime/launches.hpp"

#include "jobs/capture/runtime/driver/driver.hpp"
#include "jobs/capture/runtime/driver/textures.hpp"

namespace lockstep::capture {
LOCKSTEP_EXPORT Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* host);
LOCKSTEP_EXPORT Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host,
                                                                    int threads,
                                                                    std::size_t shared_bytes);
}  // namespace lockstep::capture

namespace lockstep::capture::driver {
namespace {

struct DriverLaunchConfiguration {
  Dimensions blocks, threads;
  unsigned shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(DriverLaunchConfiguration) == 56);

Error launch_apart(const void* function, const CallConfiguration& how, void** arguments,
                   void** packed, bool cooperative) {
  if (!function) return invalid_handle;
  return apart([&] {
    if (const Error error = update_references(); error != success) return error;
    return launch(function, how, arguments ? Arguments{arguments} : packed_arguments(packed),
                  cooperative);
  });
}

}  // namespace

LOCKSTEP_DRIVER Error cuLaunchKernel(const void* function, unsigned blocks_x, unsigned blocks_y,
                                     unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                                     unsigned threads_z, unsigned shared_bytes, StreamHandle stream,
                                     void** arguments, void** packed) {
  return launch_apart(
      function,
      {{blocks_x, blocks_y, blocks_z}, {threads_x, threads_y, threads_z}, shared_bytes, stream},
      arguments, packed, false);
}
LOCKSTEP_DRIVER Error cuLaunchCooperativeKernel(const void* function, unsigned blocks_x,
                                                unsigned blocks_y, unsigned blocks_z,
                                                unsigned threads_x, unsigned threads_y,
                                                unsigned threads_z, unsigned shared_bytes,
                                                StreamHandle stream, void** arguments) {
  return launch_apart(
      function,
      {{blocks_x, blocks_y, blocks_z}, {threads_x, threads_y, threads_z}, shared_bytes, stream},
      arguments, nullptr, true);
}
LOCKSTEP_DRIVER Error cuLaunchKernelEx(const DriverLaunchConfiguration* how, const void* function,
                                       void** arguments, void** packed) {
  if (!how) return invalid_value;
  CallConfiguration call{how->blocks, how->threads, how->shared_bytes, how->stream};
  bool cooperative = false;
  const Error error = apart(
      [&] { return read_attributes(how->attributes, how->attribute_count, call, cooperative); });
  if (error != success) return error;
  return launch_apart(function, call, arguments, packed, cooperative);
}
LOCKSTEP_DRIVER Error cuFuncGetAttribute(int* value, int attribute, const void* function) {
  FunctionAttributes attributes;
  const Error error = apart([&] { return cudaFuncGetAttributes(&attributes, function); });
  if (error != success) return error;
  const int values[] = {
    attributes.maximum_threads,
    static_cast<int>(attributes.shared_bytes),
    static_cast<int>(attributes.constant_bytes),
    static_cast<int>(attributes.local_bytes),
    attributes.registers,
    attributes.ptx_version,
    attributes.binary_version,
    attributes.cache_mode,
    attributes.maximum_dynamic_shared_bytes,
    attributes.preferred_carveout,
#if LOCKSTEP_CUDA_MAJOR >= 12
    attributes.cluster_must_be_set,
    attributes.required_cluster[0],
    attributes.required_cluster[1],
    attributes.required_cluster[2],
    attributes.non_portable_cluster,
    attributes.cluster_policy
#endif
  };
  if (attribute < 0 || attribute >= static_cast<int>(std::size(values))) return invalid_value;
  if (!value) return invalid_value;
  *value = values[attribute];
  return success;
}
LOCKSTEP_DRIVER Error cuOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                   const DriverLaunchConfiguration* how) {
  if (!how || !clusters) return invalid_value;
  return apart([&] {
    CallConfiguration call{how->blocks, how->threads, how->shared_bytes, how->stream};
    bool cooperative = false;
    const Error error = read_attributes(how->attributes, how->attribute_count, call, cooperative);
    return error == success ? active_clusters(clusters, function, call) : error;
  });
}
LOCKSTEP_DRIVER Error cuOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                         const DriverLaunchConfiguration* how) {
  if (!how || !blocks) return invalid_value;
  return apart([&] {
    return potential_cluster(blocks, function,
                             {how->blocks, how->threads, how->shared_bytes, how->stream});
  });
}
/// Returns the block size that fills an SM best, the largest among equal ones, and the grid that
/// fills the GPU.
LOCKSTEP_DRIVER Error cuOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function,
                                                       std::size_t (*shared_bytes_of)(int),
                                                       std::size_t shared_bytes, int limit) {
  int most = 0, least_step = 0;
  if (!grid || !block) return invalid_value;
  if (const Error error = cuFuncGetAttribute(&most, 0, function); error != success) return error;
  constexpr int warp = 32;
  if (limit > 0 && limit < most) most = limit;
  int best = 0;
  for (int threads = most; threads > 0; threads -= threads % warp == 0 ? warp : threads % warp) {
    int blocks = 0;
    const Error error = apart([&] {
      return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, function, threads, shared_bytes_of ? shared_bytes_of(threads) : shared_bytes);
    });
    if (error != success) return error;
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    least_step = blocks;
  }
  *grid = least_step * static_cast<int>(Connection::get().device().sms);
  return best > 0 ? success : invalid_value;
}

}  // namespace lockstep::capture::driver
