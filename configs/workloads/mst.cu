// Minimum spanning forest by Boruvka's rounds: every component finds its lightest edge to another
// one, components join along these edges, labels follow. An edge's key is its weight above its
// number, so no two are equal and only pairs of components can choose each other.
extern "C" __global__ void mst_start(const unsigned* __restrict__ row,
                                     unsigned* __restrict__ source,
                                     unsigned* __restrict__ component, int vertices) {
  const unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices) return;
  component[vertex] = vertex;
  const unsigned end = row[vertex + 1];
#pragma unroll 1
  for (unsigned edge = row[vertex]; edge < end; ++edge) source[edge] = vertex;
}

extern "C" __global__ void mst_reset(unsigned long long* __restrict__ best, int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex < vertices) best[vertex] = ~0ull;
}

extern "C" __global__ void mst_find(const unsigned* __restrict__ row,
                                    const unsigned* __restrict__ column,
                                    const unsigned* __restrict__ weight,
                                    const unsigned* __restrict__ component,
                                    unsigned long long* best, int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices) return;
  const unsigned own = component[vertex];
  const unsigned end = row[vertex + 1];
#pragma unroll 1
  for (unsigned edge = row[vertex]; edge < end; ++edge) {
    const unsigned other = component[column[edge]];
    if (other == own) continue;
    const unsigned long long heavy = weight[edge];
    const unsigned long long key = heavy << 32 | edge;
    if (key < best[own]) atomicMin(&best[own], key);
    if (key < best[other]) atomicMin(&best[other], key);
  }
}

// Of two components that choose the same edge the one with the smaller label stays.
extern "C" __global__ void mst_join(const unsigned* __restrict__ source,
                                    const unsigned* __restrict__ column,
                                    const unsigned* __restrict__ component,
                                    const unsigned long long* __restrict__ best,
                                    unsigned* __restrict__ parent, unsigned* __restrict__ in_tree,
                                    unsigned long long* total, unsigned* changed, int vertices) {
  const unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices) return;
  parent[vertex] = component[vertex];
  if (component[vertex] != vertex || best[vertex] == ~0ull) return;
  const unsigned edge = static_cast<unsigned>(best[vertex]);
  const unsigned from = component[source[edge]];
  const unsigned to = component[column[edge]];
  const unsigned other = from == vertex ? to : from;
  if (best[other] == best[vertex] && vertex < other) return;
  parent[vertex] = other;
  in_tree[edge] = 1;
  atomicAdd(total, best[vertex] >> 32);
  *changed = 1;
}

extern "C" __global__ void mst_label(const unsigned* __restrict__ parent,
                                     unsigned* __restrict__ component, int vertices) {
  const unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices) return;
  unsigned root = parent[vertex];
  while (parent[root] != root) root = parent[root];
  component[vertex] = root;
}
