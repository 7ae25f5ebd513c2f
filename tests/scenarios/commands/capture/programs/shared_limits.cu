// How much dynamic shared memory a launch may ask for: 48 KiB less what the kernel has, more where
// its attribute says so, and never more than the GPU has for a block.
#include <cstdio>

__global__ void last(int* to, int count) {
  extern __shared__ int room[];
  if (threadIdx.x == 0) room[count - 1] = count;
  __syncthreads();
  *to = room[count - 1];
}
__global__ void with_own(int* to) {
  __shared__ int own[1024];
  extern __shared__ int room[];
  own[threadIdx.x] = 1;
  room[threadIdx.x] = 2;
  __syncthreads();
  *to = own[0] + room[0];
}

static int wrong = 0;
static void expect(const char* what, cudaError_t got, cudaError_t wanted) {
  const cudaError_t kept = cudaGetLastError();
  if (got == wanted && kept == wanted) return;
  std::printf("%s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
  ++wrong;
}
#define EXPECT(call, wanted) expect(#call, call, wanted)

static cudaError_t launch(int* to, size_t bytes) {
  last<<<1, 32, bytes>>>(to, static_cast<int>(bytes / 4));
  return cudaPeekAtLastError();
}
static cudaError_t launch_with_own(int* to, size_t bytes) {
  with_own<<<1, 32, bytes>>>(to);
  return cudaPeekAtLastError();
}
static cudaError_t allow(const void* kernel, int bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

int main() {
  const int usual = 48 << 10;
  int *to = nullptr, most = 0, block = 0;
  cudaFuncAttributes attributes;
  cudaMalloc(&to, 4);
  cudaDeviceGetAttribute(&block, cudaDevAttrMaxSharedMemoryPerBlock, 0);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  wrong += block != usual || most != 96 << 10;
  EXPECT(launch(to, usual), cudaSuccess);
  EXPECT(launch(to, usual + 4), cudaErrorInvalidValue);
  EXPECT(launch_with_own(to, usual - 4096), cudaSuccess);
  EXPECT(launch_with_own(to, usual - 4092), cudaErrorInvalidValue);
  EXPECT(allow(reinterpret_cast<const void*>(last), most + 1), cudaErrorInvalidValue);
  EXPECT(allow(reinterpret_cast<const void*>(last), -1), cudaErrorInvalidValue);
  EXPECT(allow(reinterpret_cast<const void*>(with_own), most), cudaErrorInvalidValue);
  EXPECT(cudaFuncSetAttribute(last, cudaFuncAttributePreferredSharedMemoryCarveout, 101),
         cudaErrorInvalidValue);
  EXPECT(allow(reinterpret_cast<const void*>(last), 60000), cudaSuccess);
  EXPECT(launch(to, 60000), cudaSuccess);
  EXPECT(launch(to, 60004), cudaErrorInvalidValue);
  EXPECT(allow(reinterpret_cast<const void*>(last), most), cudaSuccess);
  EXPECT(launch(to, most), cudaSuccess);
  EXPECT(cudaFuncGetAttributes(&attributes, last), cudaSuccess);
  wrong += attributes.maxDynamicSharedSizeBytes != most;
  EXPECT(cudaFuncGetAttributes(&attributes, with_own), cudaSuccess);
  wrong += attributes.maxDynamicSharedSizeBytes != usual - 4096;
  int got = 0;
  EXPECT(cudaMemcpy(&got, to, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
  wrong += got != most / 4;
  std::printf("shared_limits %s\n", wrong == 0 ? "right" : "wrong");
  return wrong == 0 ? 0 : 1;
}
