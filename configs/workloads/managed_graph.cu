// Breadth-first search on a graph in managed memory that two GPUs share, one launch per level and GPU: a thread owns a
// vertex, a GPU a half of the vertices.  Both give neighbours of either half the next depth, all the same value.
extern "C" __global__ void managed_start(int* depth, const int* root) {
  depth[*root] = 0;
}

extern "C" __global__ void managed_level(const unsigned* row, const unsigned* column, int* depth,
                                         unsigned* changed, int level, int first, int end) {
  const int vertex = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= end || depth[vertex] != level) return;
  const unsigned last = row[vertex + 1];
  for (unsigned edge = row[vertex]; edge < last; ++edge) {
    const unsigned neighbour = column[edge];
    if (depth[neighbour] < 0) {
      depth[neighbour] = level + 1;
      *changed = 1;
    }
  }
}
