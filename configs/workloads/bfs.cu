// Breadth-first search, one launch per level: a thread owns a vertex; vertices of the current level
// give their unvisited neighbours the next depth. Several threads may do so for the same
// neighbour, all with the same value.
extern "C" __global__ void bfs_start(int* depth, int source) {
  depth[source] = 0;
}

extern "C" __global__ void bfs_level(const unsigned* __restrict__ row,
                                     const unsigned* __restrict__ column, int* depth,
                                     unsigned* changed, int level, int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || depth[vertex] != level) return;
  const unsigned end = row[vertex + 1];
  for (unsigned edge = row[vertex]; edge < end; ++edge) {
    const unsigned neighbour = column[edge];
    if (depth[neighbour] < 0) {
      depth[neighbour] = level + 1;
      *changed = 1;
    }
  }
}
