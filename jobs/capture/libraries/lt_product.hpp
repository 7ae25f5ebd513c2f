/// Products of libcublasLt: requests are checked and passed to Lockstep's own kernels.
#pragma once

#include "jobs/capture/libraries/library_calls.hpp"
#include "jobs/capture/libraries/lt_descriptors.hpp"

namespace lockstep::capture {

/// Layouts of a product D = epilogue(alpha op(A) op(B) + beta C).
struct LtProduct {
  const char* entry;
  const MatmulDescription* description;
  const MatrixLayout *a, *b, *c, *d;
};
struct LtMemory {
  const void *alpha, *a, *b, *beta, *c;
  void* d;
};

/// Checks whether the product is supported, and prints one line if it is not.
Status check(const LtProduct& product);
/// Launches the product and its gradient of a bias, if it has one.
Status multiply(const LtProduct& product, const LtMemory& memory, void* stream);

}  // namespace lockstep::capture
