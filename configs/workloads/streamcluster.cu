// The distance kernel of online clustering: would opening a centre at a candidate point be cheaper
// for each point than its present centre? Savings are added up per present centre.
// The candidate's coordinates are staged in dynamic shared memory (4 * dimensions bytes).
extern __shared__ float candidate_coordinates[];

extern "C" __global__ void streamcluster_gain(const float* __restrict__ coordinate,
                                              const float* __restrict__ weight,
                                              const float* __restrict__ cost,
                                              const unsigned* __restrict__ assigned,
                                              unsigned char* __restrict__ switches, float* saved,
                                              int points, int dimensions, int centres,
                                              int candidate) {
#pragma unroll 1
  for (int d = threadIdx.x; d < dimensions; d += blockDim.x) {
    candidate_coordinates[d] = coordinate[d * points + candidate];
  }
  __syncthreads();
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= points) return;
  float distance = 0.0f;
#pragma unroll 4
  for (int d = 0; d < dimensions; ++d) {
    const float difference = coordinate[d * points + p] - candidate_coordinates[d];
    distance = fmaf(difference, difference, distance);
  }
  const float gain = fmaf(-weight[p], distance, cost[p]);
  switches[p] = gain > 0.0f ? 1 : 0;
  if (gain > 0.0f) atomicAdd(&saved[assigned[p] % centres], gain);
}
