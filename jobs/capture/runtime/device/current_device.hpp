#pragma once

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

/// Returns the device that a thread's calls are about: each thread begins with device 0.
int current_device();
void set_current_device(int number);
/// Returns whether the device exists.
bool is_device_number(int number);
/// Lets kernels of a device use the memory of another one, or revokes that.
Error change_peer_access(int device, int peer, bool is_on);

}  // namespace lockstep::capture
