/// Texture references of modules that were loaded while the program ran.
#pragma once

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture::driver {

/// Sends the program's changes of texture references since the last launch to the GPU.
Error update_references();

}  // namespace lockstep::capture::driver
