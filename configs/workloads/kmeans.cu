// k-means clustering: each point joins its nearest centre, points are added up per cluster, centres
// move to the mean. Sums are 64-bit fixed point, so that the order of the atomics does not matter.
constexpr float scale = 1048576.0f;

extern "C" __global__ void kmeans_assign(const float* __restrict__ feature,
                                         const float* __restrict__ centre,
                                         int* __restrict__ membership, int points, int features,
                                         int clusters) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= points) return;
  float nearest = 3.0e38f;
  int best = 0;
  for (int c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    for (int f = 0; f < features; ++f) {
      const float difference = feature[f * points + p] - centre[c * features + f];
      distance = fmaf(difference, difference, distance);
    }
    if (distance < nearest) {
      nearest = distance;
      best = c;
    }
  }
  membership[p] = best;
}

extern "C" __global__ void kmeans_accumulate(const float* __restrict__ feature,
                                             const int* __restrict__ membership,
                                             unsigned long long* sum, unsigned* size, int points,
                                             int features) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= points) return;
  const int c = membership[p];
  atomicAdd(&size[c], 1u);
#pragma unroll 1
  for (int f = 0; f < features; ++f) {
    const long long fixed = __float2ll_rn(feature[f * points + p] * scale);
    atomicAdd(&sum[c * features + f], static_cast<unsigned long long>(fixed));
  }
}

// Moves the centres and clears the sums for the next round; an empty cluster stays where it is.
// One block, one thread per cluster.
extern "C" __global__ void kmeans_move(float* __restrict__ centre, unsigned long long* sum,
                                       unsigned* size, int features, int clusters) {
  const int c = threadIdx.x;
  if (c >= clusters) return;
  const unsigned members = size[c];
  for (int f = 0; f < features; ++f) {
    const long long total = static_cast<long long>(sum[c * features + f]);
    if (members != 0) {
      centre[c * features + f] = static_cast<float>(total) / (static_cast<float>(members) * scale);
    }
    sum[c * features + f] = 0;
  }
  size[c] = 0;
}
