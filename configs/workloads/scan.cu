// Exclusive prefix sums in three launches: every block scans 1024 elements by a sweep up and one
// down a tree in shared memory, one block scans the sums of the blocks, then each block adds what
// lies before it.
constexpr int threads = 512;
constexpr int elements = 2 * threads;

extern "C" __global__ void scan_blocks(const unsigned* __restrict__ in, unsigned* __restrict__ out,
                                       unsigned* __restrict__ total, int n) {
  __shared__ unsigned tree[elements];
  const int t = threadIdx.x;
  const int first = blockIdx.x * elements;
  tree[t] = first + t < n ? in[first + t] : 0;
  tree[t + threads] = first + t + threads < n ? in[first + t + threads] : 0;
  int distance = 1;
#pragma unroll 1
  for (int nodes = threads; nodes > 0; nodes /= 2) {
    __syncthreads();
    if (t < nodes) tree[(2 * t + 2) * distance - 1] += tree[(2 * t + 1) * distance - 1];
    distance *= 2;
  }
  if (t == 0) {
    total[blockIdx.x] = tree[elements - 1];
    tree[elements - 1] = 0;
  }
#pragma unroll 1
  for (int nodes = 1; nodes <= threads; nodes *= 2) {
    distance /= 2;
    __syncthreads();
    if (t < nodes) {
      const int left = (2 * t + 1) * distance - 1;
      const int right = (2 * t + 2) * distance - 1;
      const unsigned of_left = tree[left];
      tree[left] = tree[right];
      tree[right] += of_left;
    }
  }
  __syncthreads();
  if (first + t < n) out[first + t] = tree[t];
  if (first + t + threads < n) out[first + t + threads] = tree[t + threads];
}

extern "C" __global__ void scan_add(unsigned* __restrict__ out, const unsigned* __restrict__ before,
                                    int n) {
  const unsigned own = before[blockIdx.x];
  const int i = blockIdx.x * elements + threadIdx.x;
  if (i < n) out[i] += own;
  if (i + threads < n) out[i + threads] += own;
}
