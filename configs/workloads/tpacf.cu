// Two-point angular correlation: histograms of the angles between points on a sphere, of the data
// with itself, of the data with each random set, and of each random set with itself. A block makes
// one histogram: a copy per warp in shared memory, bins found by binary search.
constexpr int bins = 20;
constexpr int threads = 128;
constexpr int warps = threads / 32;

// Points in a cube become directions. The first set is the data.
extern "C" __global__ void tpacf_directions(float* x, float* y, float* z, int points) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= points) return;
  const float at_x = x[i];
  const float at_y = y[i];
  const float at_z = z[i];
  const float length = sqrtf(fmaf(at_x, at_x, fmaf(at_y, at_y, at_z * at_z)));
  x[i] = at_x / length;
  y[i] = at_y / length;
  z[i] = at_z / length;
}

// Block 0: data with data; blocks 1 to sets: data with a random set; then each set with itself.
// edge[b] is the smallest cosine of bin b, falling with b.
extern "C" __global__ void tpacf_histograms(
    const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z,
    const float* __restrict__ edge, unsigned* __restrict__ histogram, int points, int sets) {
  __shared__ unsigned counts[warps][bins];
  __shared__ float3 staged[threads];
  __shared__ float edges[bins];
  const int t = threadIdx.x;
  const bool with_itself = blockIdx.x == 0 || blockIdx.x > sets;
  const int second = blockIdx.x > sets ? blockIdx.x - sets : blockIdx.x;
  const int first = with_itself ? second : 0;
  if (t < bins) edges[t] = edge[t];
  for (int i = t; i < warps * bins; i += threads) counts[i / bins][i % bins] = 0;
  for (int chunk = 0; chunk < points; chunk += threads) {
    const int count = min(points - chunk, threads);
    __syncthreads();
    if (t < count) {
      const int i = second * points + chunk + t;
      staged[t] = make_float3(x[i], y[i], z[i]);
    }
    __syncthreads();
    for (int i = t; i < points; i += threads) {
      const int own = first * points + i;
      const float own_x = x[own];
      const float own_y = y[own];
      const float own_z = z[own];
#pragma unroll 1
      for (int k = with_itself ? max(i + 1 - chunk, 0) : 0; k < count; ++k) {
        const float3 other = staged[k];
        const float cosine = fmaf(own_x, other.x, fmaf(own_y, other.y, own_z * other.z));
        int low = 0;
        int high = bins - 1;
        while (low < high) {
          const int middle = (low + high) / 2;
          if (cosine >= edges[middle]) {
            high = middle;
          } else {
            low = middle + 1;
          }
        }
        atomicAdd(&counts[t / 32][low], 1u);
      }
    }
  }
  __syncthreads();
  if (t < bins) {
    unsigned sum = 0;
    for (int warp = 0; warp < warps; ++warp) sum += counts[warp][t];
    histogram[blockIdx.x * bins + t] = sum;
  }
}
