// Lookup in a b+ tree of order 16 stored level by level: the sorted keys are the leaves, entry j of
// level l is key j * 16^l, the root is the last 16 entries. Sixteen lanes search a node together:
// each compares one entry, a ballot gives the child.
constexpr int order = 16;

// A thread per entry of any level.
extern "C" __global__ void btree_build(const unsigned* __restrict__ key,
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

extern "C" __global__ void btree_find(const unsigned* __restrict__ node,
                                      const unsigned* __restrict__ value,
                                      const unsigned* __restrict__ query,
                                      unsigned* __restrict__ found, int keys, int queries) {
  const int q = (blockIdx.x * blockDim.x + threadIdx.x) / order;
  if (q >= queries) return;
  const unsigned lane = threadIdx.x % order;
  const unsigned first_lane = threadIdx.x % 32 - lane;
  const unsigned group = 0xffffu << first_lane;
  const unsigned wanted = query[q];
  int entries = order;
  int base = 0;
  for (int level = keys; level > order; level /= order) base += level;
  unsigned position = 0;
  unsigned entry = 0;
  while (true) {
    entry = node[base + position + lane];
    const unsigned smaller = __ballot_sync(group, entry <= wanted);
    const int child = max(__popc(smaller) - 1, 0);
    position += child;
    if (entries == keys) {
      const unsigned key = __shfl_sync(group, entry, child, order);
      if (lane == 0) found[q] = key == wanted ? value[position] : 0xffffffffu;
      return;
    }
    position *= order;
    entries *= order;
    base -= entries;
  }
}
