/// Copies to, from and between arrays, as copies of their rows.
#pragma once

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

/// Returns the copy with pointers instead of arrays and bytes instead of texels.
Copy3D without_arrays(const Copy3D& copy);

}  // namespace lockstep::capture
