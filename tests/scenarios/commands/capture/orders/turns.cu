// A block reads a word of shared memory and one of its warps writes the word later, without a barrier between the two
// when `racy`.  Hardware shows no difference, since all warps have read the word long before.
#include <cstdio>

template <bool racy>
__global__ void sum(const float* x, float* out, int count) {
  __shared__ float words[4];
  const int thread = threadIdx.x, warp = thread / 32;
  if (thread == 0) words[0] = 5;
  __syncthreads();
  const float first = words[0];
  if (!racy) __syncthreads();
  float mine = 0;
  for (int i = thread; i < count; i += 128) mine += x[i] - first;
  if (thread % 32 == 0) words[warp] = mine;
  __syncthreads();
  out[thread] = first;
}

int main(int arguments, char**) {
  float *x, *out, host[128];
  cudaMalloc(&x, 40000);
  cudaMalloc(&out, sizeof host);
  cudaMemset(x, 0, 40000);
  if (arguments > 1) {
    sum<true><<<1, 128>>>(x, out, 10000);
    sum<true><<<1, 128>>>(x, out, 10000);
  } else {
    sum<false><<<1, 128>>>(x, out, 10000);
  }
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  int other = 0;
  for (float value : host) other += value != 5;
  std::printf("%d of 128 differ: %s\n", other, other ? "turns wrong" : "turns right");
  return other != 0;
}
