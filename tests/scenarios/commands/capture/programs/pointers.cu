// Pointers in memory, function pointers that go through the host, memory that is freed and taken again.
#include <cstdio>

using Operation = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ Operation operations[2] = {twice, square};

struct Node {
  int value;
  Node* next;
};

__global__ void link(Node* nodes, int count) {
  const int i = threadIdx.x;
  if (i < count) nodes[i] = {i, i + 1 < count ? &nodes[i + 1] : nullptr};
}

__global__ void walk(const Node* first, Operation operation, int* sum) {
  for (const Node* node = first; node != nullptr; node = node->next) *sum += operation(node->value);
}

int main() {
  constexpr int count = 10;
  bool right = true;
  int total = 0;
  Operation chosen[2];
  for (int round = 0; round < 4; ++round) {
    Node* nodes;
    int *sum, got = -1;
    cudaMalloc(&nodes, count * sizeof(Node));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    cudaMemcpyFromSymbol(chosen, operations, sizeof chosen);
    link<<<1, 32>>>(nodes, count);
    walk<<<1, 1>>>(nodes, chosen[round % 2], sum);
    cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost);
    int expected = 0;
    for (int i = 0; i < count; ++i) expected += round % 2 ? i * i : 2 * i;
    right &= got == expected;
    total += got;
    cudaFree(nodes);
    cudaFree(sum);
  }
  right &= cudaGetLastError() == cudaSuccess;
  std::printf("pointers %s, total %d\n", right ? "right" : "wrong", total);
  return right ? 0 : 1;
}
