// Sparse matrix (CSR) times vector: one thread per row (divergent, uncoalesced), and one warp per
// row (coalesced, shuffles).
constexpr unsigned full = 0xffffffffu;

extern "C" __global__ void spmv_scalar(const unsigned* __restrict__ row,
                                       const unsigned* __restrict__ column,
                                       const float* __restrict__ value, const float* __restrict__ x,
                                       float* __restrict__ y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const unsigned end = row[r + 1];
  float sum = 0.0f;
  for (unsigned i = row[r]; i < end; ++i) sum = fmaf(value[i], x[column[i]], sum);
  y[r] = sum;
}

extern "C" __global__ void spmv_vector(const unsigned* __restrict__ row,
                                       const unsigned* __restrict__ column,
                                       const float* __restrict__ value, const float* __restrict__ x,
                                       float* __restrict__ y, int rows) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  if (r >= rows) return;
  const unsigned end = row[r + 1];
  float sum = 0.0f;
#pragma unroll 1
  for (unsigned i = row[r] + lane; i < end; i += 32) sum = fmaf(value[i], x[column[i]], sum);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(full, sum, distance);
  }
  if (lane == 0) y[r] = sum;
}
