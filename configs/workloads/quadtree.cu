// A quadtree over points of the unit square, as the CUDA sample of that name, but each node takes
// its children and the points of each child from malloc, and a launch per level stands for launches
// from the GPU. A node with more than `crowd` points is split, down to `levels` levels below the
// root. The bits of a block's number, two per level, are the way from the root to its node.
#include <cassert>

struct Node {
  Node* child;    // four: left below, right below, left above, right above; null: a leaf
  float2* point;  // of a leaf
  int count;
};

// The square of a node: its middle, and half of its side.
struct Square {
  float x, y, half;
};

__device__ __forceinline__ int quadrant(const Square& square, float2 point) {
  return (point.x >= square.x ? 1 : 0) + (point.y >= square.y ? 2 : 0);
}

__device__ __forceinline__ void enter(Square& square, int which) {
  square.half *= 0.5f;
  square.x += which % 2 != 0 ? square.half : -square.half;
  square.y += which / 2 != 0 ? square.half : -square.half;
}

// The node of that number among 4^level ones, or null if it does not exist.
__device__ __forceinline__ Node* find(Node* node, unsigned number, int level, Square& square) {
  square = {0.5f, 0.5f, 0.5f};
  for (int l = level - 1; l >= 0; --l) {
    if (node->child == nullptr) return nullptr;
    const int which = number >> 2 * l & 3;
    node = node->child + which;
    enter(square, which);
  }
  return node;
}

extern "C" __global__ void quadtree_plant(Node** root, float2* point, int count) {
  Node* node = static_cast<Node*>(malloc(sizeof(Node)));
  assert(node != nullptr);
  *node = {nullptr, point, count};
  *root = node;
}

extern "C" __global__ void quadtree_split(Node* const* __restrict__ root, int level, int crowd) {
  __shared__ int counts[4];
  __shared__ Node* children;
  Square square;
  Node* node = find(*root, blockIdx.x, level, square);
  if (node == nullptr || node->count <= crowd) return;
  const float2* point = node->point;
  const int count = node->count;
  if (threadIdx.x < 4) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    atomicAdd(&counts[quadrant(square, point[i])], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    children = static_cast<Node*>(malloc(4 * sizeof(Node)));
    assert(children != nullptr);
  }
  __syncthreads();
  if (threadIdx.x < 4) {
    const int part = counts[threadIdx.x];
    float2* points = part == 0 ? nullptr : static_cast<float2*>(malloc(part * sizeof(float2)));
    assert(part == 0 || points != nullptr);
    children[threadIdx.x] = {nullptr, points, part};
    counts[threadIdx.x] = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int which = quadrant(square, point[i]);
    children[which].point[atomicAdd(&counts[which], 1)] = point[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (level > 0) free(node->point);
    node->point = nullptr;
    node->child = children;
  }
}

// For each point: how deep its leaf is, how many points are there, and how many of them are at its
// own place.
extern "C" __global__ void quadtree_look_up(const float2* __restrict__ point,
                                            Node* const* __restrict__ root,
                                            unsigned* __restrict__ depth,
                                            unsigned* __restrict__ around,
                                            unsigned* __restrict__ same, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float2 own = point[i];
  Square square = {0.5f, 0.5f, 0.5f};
  const Node* node = *root;
  unsigned level = 0;
  for (; node->child != nullptr; ++level) {
    const int which = quadrant(square, own);
    node = node->child + which;
    enter(square, which);
  }
  unsigned equal = 0;
  for (int k = 0; k < node->count; ++k) {
    const float2 other = node->point[k];
    if (other.x == own.x && other.y == own.y) ++equal;
  }
  depth[i] = level;
  around[i] = node->count;
  same[i] = equal;
}

// A thread per node of a level: what hangs on it goes. From the last level but one up to the root.
extern "C" __global__ void quadtree_fell(Node* const* __restrict__ root, int level) {
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= 1u << 2 * level) return;
  Square square;
  Node* node = find(*root, number, level, square);
  if (node == nullptr || node->child == nullptr) return;
  for (int which = 0; which < 4; ++which) free(node->child[which].point);
  free(node->child);
  node->child = nullptr;
  if (level == 0) free(node);
}
