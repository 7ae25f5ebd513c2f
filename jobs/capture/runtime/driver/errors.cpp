/// Names of errors; their sentences are those of the runtime.
#include "jobs/capture/runtime/driver/driver.hpp"

namespace lockstep::capture {
LOCKSTEP_EXPORT const char* cudaGetErrorString(Error error);
}

namespace lockstep::capture::driver {
namespace {

struct Known {
  Error error;
  const char* name;
};

constexpr Known names[] = {
    {success, "CUDA_SUCCESS"},
    {invalid_value, "CUDA_ERROR_INVALID_VALUE"},
    {memory_allocation, "CUDA_ERROR_OUT_OF_MEMORY"},
    {initialization_error, "CUDA_ERROR_NOT_INITIALIZED"},
    {invalid_configuration, "CUDA_ERROR_INVALID_VALUE"},
    {invalid_cluster_size, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
    {invalid_image, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {no_kernel_image, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {peer_access_unsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND"},
    {invalid_handle, "CUDA_ERROR_INVALID_HANDLE"},
    {not_found, "CUDA_ERROR_NOT_FOUND"},
    {not_ready, "CUDA_ERROR_NOT_READY"},
    {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {assertion_failure, "CUDA_ERROR_ASSERT"},
    {launch_failure, "CUDA_ERROR_LAUNCH_FAILED"},
    {cooperative_launch_too_large, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {not_permitted, "CUDA_ERROR_NOT_PERMITTED"},
    {not_supported, "CUDA_ERROR_NOT_SUPPORTED"},
    {graph_update_failure, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
    {unknown_error, "CUDA_ERROR_UNKNOWN"},
};

}  // namespace

LOCKSTEP_DRIVER Error cuGetErrorName(Error error, const char** name) {
  *name = nullptr;
  for (const Known& known : names)
    if (known.error == error) *name = known.name;
  return *name ? success : invalid_value;
}
LOCKSTEP_DRIVER Error cuGetErrorString(Error error, const char** sentence) {
  const char* name = nullptr;
  *sentence = cuGetErrorName(error, &name) == success ? cudaGetErrorString(error) : nullptr;
  return *sentence ? success : invalid_value;
}

}  // namespace lockstep::capture::driver
