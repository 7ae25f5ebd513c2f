// Shortest paths from one vertex by relaxing all edges of the vertices that became nearer in the
// round before. New distances are gathered apart by atomic minima, so a round reads what the one
// before left, whatever the order of its threads.
extern "C" __global__ void sssp_start(unsigned* distance, unsigned* nearer, unsigned* active,
                                      int source) {
  distance[source] = 0;
  nearer[source] = 0;
  active[source] = 1;
}

extern "C" __global__ void sssp_relax(const unsigned* __restrict__ row,
                                      const unsigned* __restrict__ column,
                                      const unsigned* __restrict__ weight,
                                      const unsigned* __restrict__ distance, unsigned* nearer,
                                      unsigned* __restrict__ active, int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || active[vertex] == 0) return;
  active[vertex] = 0;
  const unsigned own = distance[vertex];
  const unsigned end = row[vertex + 1];
#pragma unroll 1
  for (unsigned edge = row[vertex]; edge < end; ++edge) {
    atomicMin(&nearer[column[edge]], own + weight[edge]);
  }
}

extern "C" __global__ void sssp_commit(unsigned* __restrict__ distance,
                                       const unsigned* __restrict__ nearer,
                                       unsigned* __restrict__ active, unsigned* changed,
                                       int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices) return;
  const unsigned found = nearer[vertex];
  if (found >= distance[vertex]) return;
  distance[vertex] = found;
  active[vertex] = 1;
  *changed = 1;
}
