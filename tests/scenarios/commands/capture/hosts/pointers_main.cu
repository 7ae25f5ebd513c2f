// With pointers_other.cu, not linked: each file is a module of its own, with functions of its own, and the host hands
// their addresses to kernels.
#include <cstdio>

using Operation = int (*)(int);
static __device__ int add_one(int x) { return x + 1; }
static __device__ int add_two(int x) { return x + 2; }
static __device__ Operation table[2] = {add_one, add_two};
static __global__ void apply(Operation operation, int* to) { *to = operation(*to); }
void apply_other(int* to);

int main() {
  int *memory, got = -1;
  Operation chosen[2];
  cudaMalloc(&memory, sizeof(int));
  cudaMemset(memory, 0, sizeof(int));
  cudaMemcpyFromSymbol(chosen, table, sizeof chosen);
  apply<<<1, 1>>>(chosen[1], memory);
  apply_other(memory);
  apply<<<1, 1>>>(chosen[0], memory);
  cudaMemcpy(&got, memory, sizeof got, cudaMemcpyDeviceToHost);
  const bool right = got == (0 + 2) * 10 * 100 + 7 + 1;
  std::printf("pointers %s, got %d\n", right ? "right" : "wrong", got);
  return right ? 0 : 1;
}
