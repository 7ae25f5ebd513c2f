// Histogram of 1024 bins over the range of a set of numbers, from which a sort chooses its buckets.
// Each of a block's three warps counts in 4 KiB of shared memory of its own, so few blocks fit on
// an SM.
constexpr int bins = 1024;
constexpr int warps = 3;
constexpr int threads = 32 * warps;

extern "C" __global__ void histogram1024(const float* __restrict__ data, unsigned* counts,
                                         float smallest, float bins_per_unit, int n) {
  __shared__ unsigned of_warp[warps][bins];
  unsigned* own = of_warp[threadIdx.x / 32];
  for (int i = threadIdx.x % 32; i < bins; i += 32) own[i] = 0;
  __syncwarp();
#pragma unroll 1
  for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) {
    const int bin = static_cast<int>((data[i] - smallest) * bins_per_unit);
    atomicAdd(&own[min(max(bin, 0), bins - 1)], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += threads) {
    unsigned sum = 0;
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) sum += of_warp[warp][i];
    if (sum != 0) atomicAdd(&counts[i], sum);
  }
}
