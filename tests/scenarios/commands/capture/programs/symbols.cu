// Constant and global variables: written, read and addressed by the host; a structure by value with a pointer inside.
#include <cstdio>

struct Job {
  int count;
  int padding;  // named, since padding has whatever stood on the stack
  const int* from;
  double weight;
  int* to;
};

__constant__ int table[4];
__device__ int total = 5;
__device__ int scratch[8];

template <class T>
__global__ void apply(Job job, T offset) {
  const int i = threadIdx.x;
  if (i >= job.count) return;
  job.to[i] = job.from[i] * table[i % 4] + static_cast<int>(job.weight * 2) + offset;
  atomicAdd(&total, job.to[i]);
  if (i < 8) scratch[i] = job.to[i];
}

int main() {
  const int numbers[4] = {1, 10, 100, 1000};
  int in[20], out[20], sum = 0, first[2] = {0, 0};
  for (int i = 0; i < 20; ++i) in[i] = i + 1;
  int *from, *to, *address;
  cudaMalloc(&from, sizeof in);
  cudaMalloc(&to, sizeof out);
  cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(table, numbers, sizeof numbers);
  apply<long long><<<1, 32>>>(Job{20, 0, from, 1.5, to}, 7);
  cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&sum, total, sizeof sum);
  cudaGetSymbolAddress(reinterpret_cast<void**>(&address), scratch);
  cudaMemcpy(first, address + 3, sizeof first, cudaMemcpyDeviceToHost);
  int expected = 5;
  bool right = true;
  for (int i = 0; i < 20; ++i) {
    const int value = in[i] * numbers[i % 4] + 3 + 7;
    right &= out[i] == value;
    expected += value;
  }
  right &= sum == expected && first[0] == out[3] && first[1] == out[4];
  std::printf("symbols %s, total %d\n", right ? "right" : "wrong", sum);
  return right ? 0 : 1;
}
