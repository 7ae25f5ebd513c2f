// Coulomb potential with a cutoff on a cubic lattice. Space is cut into cubic bins with room for
// eight atoms each; a block computes the lattice points of one bin, four per thread, and visits the
// rows of bins within reach. The atoms of a row lie side by side and are staged in shared memory.
constexpr int side = 8;       // lattice points of a bin in each direction
constexpr int bin_atoms = 8;  // room for atoms in a bin
constexpr int reach = 2;      // bins on either side at most
constexpr int points = 4;     // per thread
constexpr float spacing = 1.0f / side;

// Positions inside a bin of size 1 become positions in space; slots of small charge stay empty.
extern "C" __global__ void cutcp_place(float4* atom, int bins) {
  const int slot = blockIdx.x * blockDim.x + threadIdx.x;
  const int bin = slot / bin_atoms;
  if (bin >= bins * bins * bins) return;
  float4 a = atom[slot];
  a.x += static_cast<float>(bin % bins);
  a.y += static_cast<float>(bin / bins % bins);
  a.z += static_cast<float>(bin / (bins * bins));
  if (fabsf(a.w) < 0.25f) a.w = 0.0f;
  atom[slot] = a;
}

// 8 x 8 x 2 threads; a thread's points are two layers apart.
extern "C" __global__ void cutcp_lattice(const float4* __restrict__ atom,
                                         float* __restrict__ potential, int bins, float cutoff) {
  __shared__ float4 staged[(2 * reach + 1) * bin_atoms];
  const int thread = (threadIdx.z * side + threadIdx.y) * side + threadIdx.x;
  const int near = min(reach, static_cast<int>(ceilf(cutoff)));
  const float cutoff_squared = cutoff * cutoff;
  const float inverse = 1.0f / cutoff_squared;
  const float x = static_cast<float>(blockIdx.x * side + threadIdx.x) * spacing;
  const float y = static_cast<float>(blockIdx.y * side + threadIdx.y) * spacing;
  const int layer = blockIdx.z * side + threadIdx.z;
  float sum[points] = {};
  const int first = max(static_cast<int>(blockIdx.x) - near, 0);
  const int last = min(static_cast<int>(blockIdx.x) + near, bins - 1);
  const int count = (last - first + 1) * bin_atoms;
  const int end_z = min(static_cast<int>(blockIdx.z) + near, bins - 1);
  const int end_y = min(static_cast<int>(blockIdx.y) + near, bins - 1);
  for (int bin_z = max(static_cast<int>(blockIdx.z) - near, 0); bin_z <= end_z; ++bin_z) {
    for (int bin_y = max(static_cast<int>(blockIdx.y) - near, 0); bin_y <= end_y; ++bin_y) {
      __syncthreads();
      const float4* row = atom + ((bin_z * bins + bin_y) * bins + first) * bin_atoms;
      if (thread < count) staged[thread] = row[thread];
      __syncthreads();
#pragma unroll 1
      for (int i = 0; i < count; ++i) {
        const float4 a = staged[i];
        if (a.w == 0.0f) continue;
        const float dx = a.x - x;
        const float dy = a.y - y;
        const float flat = fmaf(dx, dx, dy * dy);
#pragma unroll
        for (int p = 0; p < points; ++p) {
          const float dz = a.z - static_cast<float>(layer + 2 * p) * spacing;
          const float squared = fmaf(dz, dz, flat);
          if (squared < cutoff_squared) {
            const float fade = fmaf(-squared, inverse, 1.0f);
            sum[p] = fmaf(a.w * rsqrtf(squared), fade * fade, sum[p]);
          }
        }
      }
    }
  }
  const int width = bins * side;
  const int column = blockIdx.x * side + threadIdx.x;
  const int line = blockIdx.y * side + threadIdx.y;
#pragma unroll
  for (int p = 0; p < points; ++p) {
    potential[((layer + 2 * p) * width + line) * width + column] = sum[p];
  }
}
