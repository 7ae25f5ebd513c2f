/// Errors: the last one of each thread, names and sentences.
#include "jobs/capture/runtime/connection.hpp"

namespace lockstep::capture {
namespace {

struct Known {
  Error error;
  const char *name, *sentence;
};

constexpr Known known_errors[] = {
    {success, "cudaSuccess", "no error"},
    {invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {memory_allocation, "cudaErrorMemoryAllocation", "out of memory"},
    {initialization_error, "cudaErrorInitializationError", "initialization error"},
    {invalid_configuration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {invalid_cluster_size, "cudaErrorInvalidClusterSize", "cluster misconfiguration"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {invalid_symbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {invalid_copy_direction, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {invalid_device_function, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {invalid_device, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {no_kernel_image, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {peer_access_unsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {invalid_handle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {not_ready, "cudaErrorNotReady", "device not ready"},
    {illegal_address, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {launch_out_of_resources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {assertion_failure, "cudaErrorAssert", "device-side assert triggered"},
    {launch_failure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cooperative_launch_too_large, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {not_permitted, "cudaErrorNotPermitted", "operation not permitted"},
    {not_supported, "cudaErrorNotSupported", "operation not supported"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the memory is registered"},
    {713, "cudaErrorHostMemoryNotRegistered", "pointer is not to registered memory"},
    {graph_update_failure, "cudaErrorGraphExecUpdateFailure", "graph cannot be updated to this"},
    {unknown_error, "cudaErrorUnknown", "unknown error"},
};

const Known* find(Error error) {
  for (const Known& known : known_errors)
    if (known.error == error) return &known;
  return nullptr;
}

}  // namespace

LOCKSTEP_EXPORT Error cudaGetLastError() {
  return last_error(true);
}
LOCKSTEP_EXPORT Error cudaPeekAtLastError() {
  return last_error(false);
}
LOCKSTEP_EXPORT const char* cudaGetErrorName(Error error) {
  const Known* known = find(error);
  return known ? known->name : "unrecognized error code";
}
LOCKSTEP_EXPORT const char* cudaGetErrorString(Error error) {
  const Known* known = find(error);
  return known ? known->sentence : "unrecognized error code";
}

}  // namespace lockstep::capture
