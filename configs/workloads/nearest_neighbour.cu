// The record nearest to a place: the distance of every record, then the smallest. A distance is not
// negative, so its bits order as it does; above the record's number they make one 64-bit key.
extern "C" __global__ void nn_distance(const float2* __restrict__ place,
                                       float* __restrict__ distance, int records, float latitude,
                                       float longitude) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= records) return;
  const float2 at = place[i];
  const float north = at.x - latitude;
  const float east = at.y - longitude;
  distance[i] = sqrtf(fmaf(north, north, east * east));
}

extern "C" __global__ void nn_nearest(const float* __restrict__ distance,
                                      unsigned long long* nearest, int records) {
  unsigned long long best = ~0ull;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < records; i += gridDim.x * blockDim.x) {
    const unsigned long long bits = __float_as_uint(distance[i]);
    const unsigned long long key = bits << 32 | static_cast<unsigned>(i);
    best = key < best ? key : best;
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, best, mask);
    best = other < best ? other : best;
  }
  if (threadIdx.x % 32 == 0) atomicMin(nearest, best);
}
