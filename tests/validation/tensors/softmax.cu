// Softmax over rows as PyTorch launches it: a block a row, which it reads three times, four elements at a time from the
// first one that is aligned to 16 bytes: for the maximum, for the sum of exponentials, and for what it writes.
struct Row {
  const float* from;
  int before, columns;  // elements before the first aligned one
};

__device__ Row row_of(const float* matrix, int columns) {
  const float* from = matrix + static_cast<long long>(blockIdx.x) * columns;
  const int before = (4 - static_cast<int>(reinterpret_cast<unsigned long long>(from) / 4 % 4)) % 4;
  return {from, min(before, columns), columns};
}

template <class Each>
__device__ void for_each(const Row& row, Each each) {
  if (threadIdx.x < row.before) each(threadIdx.x, row.from[threadIdx.x]);
  const int fours = (row.columns - row.before) / 4;
  const float4* aligned = reinterpret_cast<const float4*>(row.from + row.before);
  for (int i = threadIdx.x; i < fours; i += blockDim.x) {
    const float4 x = aligned[i];
    const int at = row.before + 4 * i;
    each(at, x.x);
    each(at + 1, x.y);
    each(at + 2, x.z);
    each(at + 3, x.w);
  }
  const int rest = row.before + 4 * fours + threadIdx.x;
  if (rest < row.columns) each(rest, row.from[rest]);
}

template <class Combine>
__device__ float of_block(float value, float* of_warps, float neutral, Combine combine) {
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, __shfl_down_sync(~0u, value, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? of_warps[threadIdx.x] : neutral;
  if (threadIdx.x < 32) {
    for (int offset = 16; offset > 0; offset /= 2) value = combine(value, __shfl_down_sync(~0u, value, offset));
    if (threadIdx.x == 0) of_warps[0] = value;
  }
  __syncthreads();
  return of_warps[0];
}

extern "C" __global__ void softmax(const float* from, float* to, int columns) {
  __shared__ float of_warps[32];
  const Row row = row_of(from, columns);
  float largest = -3.402823466e+38f;
  for_each(row, [&](int, float x) { largest = fmaxf(largest, x); });
  largest = of_block(largest, of_warps, -3.402823466e+38f, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for_each(row, [&](int, float x) { sum += expf(x - largest); });
  sum = of_block(sum, of_warps, 0, [](float a, float b) { return a + b; });
  float* out = to + static_cast<long long>(blockIdx.x) * columns;
  // Four at a time, as they are read: rows of both matrices are aligned alike.
  if (threadIdx.x < row.before) out[threadIdx.x] = expf(row.from[threadIdx.x] - largest) / sum;
  const int fours = (columns - row.before) / 4;
  const float4* aligned = reinterpret_cast<const float4*>(row.from + row.before);
  for (int i = threadIdx.x; i < fours; i += blockDim.x) {
    const float4 x = aligned[i];
    reinterpret_cast<float4*>(out + row.before)[i] = {expf(x.x - largest) / sum, expf(x.y - largest) / sum,
                                                      expf(x.z - largest) / sum, expf(x.w - largest) / sum};
  }
  const int rest = row.before + 4 * fours + threadIdx.x;
  if (rest < columns) out[rest] = expf(row.from[rest] - largest) / sum;
}
