// Layer normalisation as PyTorch launches it: a block of 32 x 4 threads a row, of which each thread reads four elements
// at a time, and Welford's way to mean and variance.
struct Moments {
  float mean, squares, count;
};

__device__ Moments with(Moments m, float value) {
  const float delta = value - m.mean;
  m.count += 1.0f;
  m.mean += delta * (1.0f / m.count);
  m.squares += delta * (value - m.mean);
  return m;
}

__device__ Moments merged(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (!(count > 0)) return {0, 0, 0};
  const float each = 1.0f / count, delta = b.mean - a.mean, share_a = a.count * each, share_b = b.count * each;
  return {share_a * a.mean + share_b * b.mean, a.squares + b.squares + delta * delta * a.count * share_b, count};
}

extern "C" __global__ void layer_norm(const float4* from, const float4* scale, const float4* shift, float4* to,
                                      float* means, float* factors, int columns, float epsilon) {
  __shared__ Moments of_warps[4];
  const int fours = columns / 4, mine = threadIdx.y * 32 + threadIdx.x;
  const float4* row = from + static_cast<long long>(blockIdx.x) * fours;
  Moments m = {0, 0, 0};
  for (int i = mine; i < fours; i += 128) {
    const float4 x = row[i];
    m = with(with(with(with(m, x.x), x.y), x.z), x.w);
  }
  for (int offset = 16; offset > 0; offset /= 2)
    m = merged(m, {__shfl_down_sync(~0u, m.mean, offset), __shfl_down_sync(~0u, m.squares, offset),
                   __shfl_down_sync(~0u, m.count, offset)});
  for (int half = 2; half > 0; half /= 2) {
    if (threadIdx.x == 0 && threadIdx.y >= half && threadIdx.y < 2 * half) of_warps[threadIdx.y - half] = m;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y < half) m = merged(m, of_warps[threadIdx.y]);
    __syncthreads();
  }
  if (mine == 0) of_warps[0] = m;
  __syncthreads();
  m = of_warps[0];
  const float factor = rsqrtf(m.squares / columns + epsilon);
  float4* out = to + static_cast<long long>(blockIdx.x) * fours;
  for (int i = mine; i < fours; i += 128) {
    const float4 x = row[i], a = scale[i], b = shift[i];
    out[i] = {fmaf(a.x, factor * (x.x - m.mean), b.x), fmaf(a.y, factor * (x.y - m.mean), b.y),
              fmaf(a.z, factor * (x.z - m.mean), b.z), fmaf(a.w, factor * (x.w - m.mean), b.w)};
  }
  if (mine == 0) {
    means[blockIdx.x] = m.mean;
    factors[blockIdx.x] = factor;
  }
}
