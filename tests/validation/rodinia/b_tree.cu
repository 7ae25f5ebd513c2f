// findK of Rodinia's b+tree: a block a query, a thread a key of the node, level by level, with the node of a query in
// global memory.  `plant` makes a tree whose nodes are half full, as insertion in ascending order leaves them.
constexpr int order = 256, filled = order / 2;

struct Node {
  int location, children[order + 1], keys[order + 1];
  bool is_leaf;
  int count;
};

// A block a node: leaves first, then their parents, then the root.  Node `n` of a level holds keys from n * span on.
extern "C" __global__ void plant(Node* nodes, int leaves, int parents) {
  const int node = blockIdx.x, level = node < leaves ? 0 : node < leaves + parents ? 1 : 2;
  const int number = level == 0 ? node : level == 1 ? node - leaves : 0;
  const int apart = level == 0 ? 1 : level == 1 ? filled : filled * filled;
  const int below = level == 0 ? 0 : level == 1 ? number * filled : leaves;
  const int held = level == 2 ? parents : level == 1 ? min(filled, leaves - number * filled) : filled;
  const int first = number * filled * apart, last = held - 1;
  for (int i = threadIdx.x; i <= order; i += blockDim.x) {
    nodes[node].keys[i] = i < held ? (i == 0 && number == 0 ? -1 : first + i * apart) : 0x7fffffff;
    nodes[node].children[i] = level == 0 ? first + min(i, last) : below + min(i, last);
  }
  if (threadIdx.x == 0) {
    nodes[node].is_leaf = level == 0;
    nodes[node].count = held;
  }
}

extern "C" __global__ void find(long long height, const Node* nodes, long long count, const int* records,
                                long long* current, long long* next, const int* keys, int* answers) {
  const int thread = threadIdx.x, query = blockIdx.x;
  for (int level = 0; level < height; ++level) {
    if (nodes[current[query]].keys[thread] <= keys[query] && nodes[current[query]].keys[thread + 1] > keys[query]) {
      if (nodes[next[query]].children[thread] < count) next[query] = nodes[next[query]].children[thread];
    }
    __syncthreads();
    if (thread == 0) current[query] = next[query];
    __syncthreads();
  }
  if (nodes[current[query]].keys[thread] == keys[query])
    answers[query] = records[nodes[current[query]].children[thread]];
}
