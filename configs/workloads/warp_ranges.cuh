// Persistent warps: a grid of as many blocks as the SMs hold shares out the numbers below `count`.
#pragma once

namespace warp_ranges {

// visit(number) for each number of this thread. A warp takes `range` consecutive numbers, and goes
// on with the range that lies as many ranges ahead as the grid has warps. `range` 0: a single range
// for each warp.
template <class Visit>
__device__ __forceinline__ void visit_all(unsigned count, unsigned range, Visit visit) {
  const unsigned lanes = 32;
  const unsigned warps = gridDim.x * blockDim.x / lanes;
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / lanes;
  const unsigned length = range != 0 ? range : (count + warps - 1) / warps;
  for (unsigned first = warp * length; first < count; first += warps * length) {
    const unsigned end = min(first + length, count);
#pragma unroll 1
    for (unsigned number = first + threadIdx.x % lanes; number < end; number += lanes)
      visit(number);
  }
}

}  // namespace warp_ranges
