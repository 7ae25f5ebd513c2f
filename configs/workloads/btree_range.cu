// Ranges of keys in a b+ tree of order 64 stored level by level (as in btree.cu): a block per range
// walks down for its first and its last key at once. Every thread compares one entry of either
// node; the one at the turn tells the others the child.
constexpr int order = 64;

// A thread per entry of any level.
extern "C" __global__ void btree_range_build(const unsigned* __restrict__ key,
                                             unsigned* __restrict__ node, int keys) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int entry = i;
  int stride = 1;
  int entries = keys;
  while (entries >= order && entry >= entries) {
    entry -= entries;
    entries /= order;
    stride *= order;
  }
  if (entries >= order) node[i] = key[entry * stride];
}

extern "C" __global__ void btree_range(const unsigned* __restrict__ node,
                                       const unsigned* __restrict__ low,
                                       const unsigned* __restrict__ span,
                                       unsigned* __restrict__ first, unsigned* __restrict__ length,
                                       int keys) {
  __shared__ unsigned entry[2][order];
  __shared__ int before[2];
  const int t = threadIdx.x;
  const unsigned from = low[blockIdx.x];
  const unsigned to = from + span[blockIdx.x];
  int base = 0;
  for (int level = keys; level > order; level /= order) base += level;
  int begin = 0;
  int end = 0;
  for (int entries = order;; entries *= order) {
    entry[0][t] = node[base + begin + t];
    entry[1][t] = node[base + end + t];
    if (t < 2) before[t] = 0;
    __syncthreads();
    // How many entries lie before the range, and how many do not lie behind it.
    const bool last = t == order - 1;
    if (entry[0][t] < from && (last || entry[0][t + 1] >= from)) before[0] = t + 1;
    if (entry[1][t] <= to && (last || entry[1][t + 1] > to)) before[1] = t + 1;
    __syncthreads();
    if (entries == keys) break;
    begin = (begin + max(before[0] - 1, 0)) * order;
    end = (end + max(before[1] - 1, 0)) * order;
    __syncthreads();
    base -= entries * order;
  }
  if (t == 0) {
    first[blockIdx.x] = begin + before[0];
    length[blockIdx.x] = end + before[1] - (begin + before[0]);
  }
}
