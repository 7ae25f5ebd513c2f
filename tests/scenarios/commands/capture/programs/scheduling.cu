// Lanes of a warp that wait for each other, and exchanges whose mask names lanes that do not come.
#include <cstdio>

__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void give(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void count(int* words) {
  take(words);
  volatile int* counted = words + 1;
  *counted = *counted + 1;
  give(words);
}

__global__ void hand_over(volatile int* words) {
  for (int i = threadIdx.x; i < 100; i += 32) {
    while (words[2] != i) {
    }
    words[2] = i + 1;
  }
}

__global__ void partly(int* words) {
  const int lane = threadIdx.x;
  if (lane % 4 == 0) words[3 + lane] = __shfl_xor_sync(0xffffffff, lane, 4);
  words[67 + lane] = lane;  // the others have not ended meanwhile
}

__global__ void below(unsigned* words) {
  const unsigned lane = threadIdx.x;
  words[35 + lane] = __ballot_sync((1u << lane) - 1, lane % 3 == 0);
}

int main() {
  constexpr int size = 99;
  int* words;
  unsigned got[size];
  cudaMalloc(&words, sizeof got);
  cudaMemset(words, 0, sizeof got);
  count<<<2, 64>>>(words);
  hand_over<<<1, 32>>>(words);
  partly<<<2, 32>>>(words);
  below<<<1, 32>>>(reinterpret_cast<unsigned*>(words));
  cudaMemcpy(got, words, sizeof got, cudaMemcpyDeviceToHost);
  bool right = got[0] == 0 && got[1] == 128 && got[2] == 100;
  for (unsigned lane = 0; lane < 32; ++lane) {
    right = right && got[3 + lane] == (lane % 4 == 0 ? lane ^ 4 : 0);
    right = right && got[35 + lane] == (0x49249249u & ((1u << lane) - 1));
  }
  std::puts(right ? "scheduling right" : "scheduling wrong");
  return right ? 0 : 1;
}
