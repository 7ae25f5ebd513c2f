// A list per thread whose nodes come from malloc: lists are built, walked and freed, every other
// node is replaced. As the list tests of the allocator Halloc. A node carries `words` words that
// follow from its thread and its place, so that sums tell whether two nodes shared memory.
#include <cassert>

struct Node {
  Node* next;
  unsigned word[];
};

__device__ __forceinline__ unsigned mix(unsigned value) {
  value = (value ^ value >> 16) * 0x7feb352du;
  value = (value ^ value >> 15) * 0x846ca68bu;
  return value ^ value >> 16;
}

__device__ __forceinline__ Node* new_node(Node* next, unsigned seed, int words) {
  Node* node = static_cast<Node*>(malloc(sizeof(Node) + words * sizeof(unsigned)));
  assert(node != nullptr);
  node->next = next;
  for (int w = 0; w < words; ++w) node->word[w] = mix(seed + w);
  return node;
}

extern "C" __global__ void lists_build(Node** __restrict__ head, int lists, int length, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lists) return;
  Node* first = nullptr;
#pragma unroll 1
  for (int k = 0; k < length; ++k) first = new_node(first, (i * length + k) * words, words);
  head[i] = first;
}

// Every other node is replaced by a new one that stands behind it.
extern "C" __global__ void lists_replace(Node** __restrict__ head, int lists, int length,
                                         int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lists) return;
  unsigned seed = ~(i * length * words);
  for (Node* node = head[i]; node != nullptr && node->next != nullptr; node = node->next->next) {
    Node* old = node->next;
    Node* rest = old->next;
    free(old);
    node->next = new_node(rest, seed, words);
    seed -= words;
  }
}

extern "C" __global__ void lists_sum(Node* const* __restrict__ head, unsigned* __restrict__ sum,
                                     unsigned* __restrict__ nodes, int lists, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lists) return;
  unsigned of_words = 0;
  unsigned count = 0;
  for (const Node* node = head[i]; node != nullptr; node = node->next) {
    ++count;
    for (int w = 0; w < words; ++w) of_words += mix(node->word[w] + count);
  }
  sum[i] = of_words;
  nodes[i] = count;
}

extern "C" __global__ void lists_free(Node** __restrict__ head, int lists) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lists) return;
  for (Node* node = head[i]; node != nullptr;) {
    Node* next = node->next;
    free(node);
    node = next;
  }
  head[i] = nullptr;
}
