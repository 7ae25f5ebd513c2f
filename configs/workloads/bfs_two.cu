// Breadth-first search with two kernels per level and a mask for each state of a vertex: the first
// gives the neighbours of the frontier their depth and marks them, the second makes the marked
// ones the next frontier. Marks keep the frontier from changing while it is read.
extern "C" __global__ void bfs_two_start(int* depth, unsigned char* frontier,
                                         unsigned char* visited, int source) {
  depth[source] = 0;
  frontier[source] = 1;
  visited[source] = 1;
}

extern "C" __global__ void bfs_two_expand(const unsigned* __restrict__ row,
                                          const unsigned* __restrict__ column,
                                          unsigned char* __restrict__ frontier,
                                          const unsigned char* __restrict__ visited,
                                          unsigned char* __restrict__ marked,
                                          int* __restrict__ depth, int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || frontier[vertex] == 0) return;
  frontier[vertex] = 0;
  const int next = depth[vertex] + 1;
  const unsigned end = row[vertex + 1];
#pragma unroll 1
  for (unsigned edge = row[vertex]; edge < end; ++edge) {
    const unsigned neighbour = column[edge];
    if (visited[neighbour] == 0) {
      depth[neighbour] = next;
      marked[neighbour] = 1;
    }
  }
}

extern "C" __global__ void bfs_two_advance(unsigned char* __restrict__ frontier,
                                           unsigned char* __restrict__ visited,
                                           unsigned char* __restrict__ marked, unsigned* again,
                                           int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || marked[vertex] == 0) return;
  marked[vertex] = 0;
  frontier[vertex] = 1;
  visited[vertex] = 1;
  *again = 1;
}
