// With names_other.cu and names_third.cu: each file has strings, variables and functions of its
// own, whose names in PTX are the same or become the same when one of them gets a number.
#include <cstdio>

__device__ int other(int);
__device__ int third(int);
static __device__ int hidden = 5;
static __constant__ int table[4] = {1, 2, 3, 4};

__global__ void all(int* to, bool talk) {
  if (talk && threadIdx.x == 0) {
    printf("first\n");
    printf("a second string of the first file, %d\n", hidden);
  }
  if (threadIdx.x == 0) hidden += 1;
  to[threadIdx.x] = other(threadIdx.x) + third(threadIdx.x) + table[threadIdx.x % 4];
}
void change_other();
int other_table();

int main() {
  int *memory, out[32], own = 0, mine[4] = {10, 20, 30, 40};
  cudaMalloc(&memory, sizeof out);
  cudaMemcpyToSymbol(table, mine, sizeof mine);
  change_other();
  all<<<1, 32>>>(memory, true);
  cudaMemcpy(out, memory, sizeof out, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&own, hidden, sizeof own);
  bool right = own == 6 && other_table() == 400;
  for (int i = 0; i < 32; ++i) right &= out[i] == 3 * i + 100 * (i % 4 + 1) + 5 * i + mine[i % 4];
  std::printf("names %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
