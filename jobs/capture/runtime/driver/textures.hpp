/// Texture references of modules that were loaded while the program ran.
#pragma once

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture::driver {

/// What the program has said of texture references since the last launch goes to the GPU.
Error update_references();

}  // namespace lockstep::capture::driver
