// Scalar products of many pairs of vectors, a block per pair: each thread adds up a few strided
// sums in shared memory, which a tree then joins.
constexpr int threads = 128;
constexpr int sums = 512;  // per block

extern "C" __global__ void scalar_product(const float* __restrict__ a, const float* __restrict__ b,
                                          float* __restrict__ product, int pairs, int elements) {
  __shared__ float sum[sums];
  for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    const float* first = a + pair * elements;
    const float* second = b + pair * elements;
#pragma unroll 1
    for (int s = threadIdx.x; s < sums; s += threads) {
      float own = 0.0f;
#pragma unroll 4
      for (int i = s; i < elements; i += sums) own = fmaf(first[i], second[i], own);
      sum[s] = own;
    }
#pragma unroll 1
    for (int half = sums / 2; half > 0; half /= 2) {
      __syncthreads();
      for (int s = threadIdx.x; s < half; s += threads) sum[s] += sum[s + half];
    }
    if (threadIdx.x == 0) product[pair] = sum[0];
    __syncthreads();
  }
}
