/// Kernels of collectives as PTX: to[i] = one[i] + other[i] for each type and reduction, and a copy
/// within a GPU.  Sums of f16 and bf16 are rounded at each step, as in NCCL.
#pragma once

#include <string>

#include "jobs/capture/protocol.hpp"

namespace lockstep::capture {

struct CombiningKernel {
  std::string name, ptx;
};

std::uint32_t bytes_of(ElementKind kind);
CombiningKernel combining_kernel(ElementKind kind, Reduction reduction);
/// Returns the kernel that copies elements of this size in bytes.
CombiningKernel local_copy_kernel(std::uint32_t element_bytes);

}  // namespace lockstep::capture
