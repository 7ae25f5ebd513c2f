// What a program asks about its device and kernels; errors; entries that are not there.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>

__global__ void heavy(double* to) {
  __shared__ double part[256];
  part[threadIdx.x] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = part[255 - threadIdx.x];
}

__global__ void meet(int* counts, int* seen) {
  atomicAdd(&counts[0], 1);
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) seen[blockIdx.x] = counts[0];
}

__global__ void speak(int number) { printf("thread %d says %d\n", threadIdx.x, number); }

int main() {
  int count = 0, sms = 0, blocks = 0;
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  cudaGetDeviceCount(&count);
  cudaGetDeviceProperties(&properties, 0);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaFuncGetAttributes(&attributes, heavy);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, heavy, 256, 0);
  bool right = count == 1 && sms == 80 && properties.multiProcessorCount == 80 && properties.warpSize == 32 &&
               properties.sharedMemPerMultiprocessor == 98304 && properties.maxThreadsPerMultiProcessor == 2048 &&
               attributes.ptxVersion == 75 && attributes.sharedSizeBytes == 2048 && attributes.numRegs > 0 && blocks == 8;
  int *counts, *seen, result[4];
  cudaMalloc(&counts, sizeof(int));
  cudaMalloc(&seen, sizeof result);
  cudaMemset(counts, 0, sizeof(int));
  void* arguments[] = {&counts, &seen};
  right &= cudaLaunchCooperativeKernel(reinterpret_cast<void*>(meet), dim3(4), dim3(64), arguments) == cudaSuccess;
  cudaMemcpy(result, seen, sizeof result, cudaMemcpyDeviceToHost);
  for (const int number : result) right &= number == 256;
  speak<<<1, 2>>>(42);
  cudaDeviceSynchronize();
  heavy<<<1, 4096>>>(nullptr);
  right &= cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess;
  cudaMipmappedArray_t levels;
  cudaChannelFormatDesc channel = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  right &= cudaMallocMipmappedArray(&levels, &channel, make_cudaExtent(16, 0, 0), 1) == cudaErrorNotSupported;
  right &= std::strcmp(cudaGetErrorName(cudaPeekAtLastError()), "cudaErrorNotSupported") == 0;
  std::printf("device %s, %s\n", right ? "right" : "wrong", properties.name);
  return right ? 0 : 1;
}
