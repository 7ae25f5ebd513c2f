/// Texture references of modules that were loaded while the program ran.
#pragma once

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture::driver {

/// Sends to the GPU what the program has set of texture references since the last launch.
Error update_references();

}  // namespace lockstep::capture::driver
