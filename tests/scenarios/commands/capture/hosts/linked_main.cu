// With linked_other.cu, -rdc=true: a function, a variable and a function pointer of the other file.
#include <cstdio>

extern __device__ int counter;
extern __constant__ int steps[4];
__device__ int doubled(int value);
extern __device__ int (*operation)(int);
static __device__ int hidden = 5;
static __device__ int own(int value) { return value + hidden; }

__global__ void all(int* to) {
  to[threadIdx.x] = doubled(threadIdx.x) + steps[threadIdx.x % 4] + operation(1) + own(0);
  if (threadIdx.x == 0) counter += 7;
}
void bump();

int main() {
  int *memory, out[32], total = 0;
  cudaMalloc(&memory, sizeof out);
  all<<<1, 32>>>(memory);
  bump();
  cudaMemcpy(out, memory, sizeof out, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&total, counter, sizeof total);
  bool right = total == 1 + 7 + 100;
  for (int i = 0; i < 32; ++i) right &= out[i] == 2 * i + 10 * (i % 4) + 11 + 5;
  std::printf("linked %s, total %d, out[1] %d\n", right ? "right" : "wrong", total, out[1]);
  return right ? 0 : 1;
}
