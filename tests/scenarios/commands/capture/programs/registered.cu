// Memory of the program's own that is registered; volumes with gaps; pools; fills of parts; limits.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void increase(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += i;
}

static bool registered_is_seen() {
  constexpr int count = 3000;
  int *memory = static_cast<int*>(std::malloc(count * sizeof(int))), *on_gpu = nullptr;
  for (int i = 0; i < count; ++i) memory[i] = 5;
  bool right = cudaHostRegister(memory, count * sizeof(int), cudaHostRegisterMapped) == cudaSuccess;
  right &= cudaHostRegister(memory, count * sizeof(int), 0) == cudaErrorHostMemoryAlreadyRegistered;
  right &= cudaHostGetDevicePointer(&on_gpu, memory, 0) == cudaSuccess;
  increase<<<12, 256>>>(on_gpu, count);
  cudaDeviceSynchronize();
  memory[7] += 100;
  increase<<<12, 256>>>(on_gpu, count);
  cudaDeviceSynchronize();
  for (int i = 0; i < count; ++i) right &= memory[i] == 5 + 2 * i + (i == 7 ? 100 : 0);
  right &= cudaHostUnregister(memory) == cudaSuccess && memory[2999] == 5 + 2 * 2999;
  right &= cudaHostUnregister(memory) == cudaErrorHostMemoryNotRegistered;
  cudaGetLastError();
  std::free(memory);
  return right;
}

static bool volumes_are_copied() {
  cudaPitchedPtr from, to;
  cudaExtent whole = make_cudaExtent(40, 6, 3), part = make_cudaExtent(8, 2, 2);
  static char in[3][6][40], out[3][6][40];
  for (int i = 0; i < 3 * 6 * 40; ++i) in[0][0][i] = i % 50;
  cudaMalloc3D(&from, whole);
  cudaMalloc3D(&to, whole);
  cudaMemset3D(to, 60, whole);
  cudaMemset3D(to, 61, make_cudaExtent(4, 2, 2));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in, 40, 40, 6);
  copy.dstPtr = from;
  copy.extent = whole;
  copy.kind = cudaMemcpyHostToDevice;
  bool right = cudaMemcpy3D(&copy) == cudaSuccess;
  copy.srcPtr = from;
  copy.dstPtr = to;
  copy.srcPos = make_cudaPos(4, 1, 0);
  copy.dstPos = make_cudaPos(16, 3, 1);
  copy.extent = part;
  copy.kind = cudaMemcpyDeviceToDevice;
  right &= cudaMemcpy3DAsync(&copy) == cudaSuccess;
  copy.srcPtr = to;
  copy.dstPtr = make_cudaPitchedPtr(out, 40, 40, 6);
  copy.srcPos = copy.dstPos = make_cudaPos(0, 0, 0);
  copy.extent = whole;
  copy.kind = cudaMemcpyDeviceToHost;
  right &= cudaMemcpy3D(&copy) == cudaSuccess;
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 40; ++x) {
        const bool copied = z >= 1 && z < 3 && y >= 3 && y < 5 && x >= 16 && x < 24;
        const char filled = z < 2 && y < 2 && x < 4 ? 61 : 60;
        right &= out[z][y][x] == (copied ? in[z - 1][y - 2][x - 12] : filled);
      }
  return right;
}

static bool pools_keep_what_is_set() {
  cudaMemPool_t pool;
  unsigned long long threshold = 1 << 20, kept = 0;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
  std::size_t heap = 0;
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20);
  cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
  void* memory = nullptr;
  return kept == threshold && heap == 8 << 20 && cudaMallocFromPoolAsync(&memory, 100, pool, 0) == cudaSuccess &&
         cudaFreeAsync(memory, 0) == cudaSuccess;
}

int main() {
  const bool registered = registered_is_seen(), volumes = volumes_are_copied(), pools = pools_keep_what_is_set();
  const bool right = registered && volumes && pools;
  if (!right) std::printf("registered %d, volumes %d, pools %d\n", registered, volumes, pools);
  std::printf("registered %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
