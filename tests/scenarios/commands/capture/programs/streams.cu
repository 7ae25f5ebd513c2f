// Streams, events between them, asynchronous copies, fills, a copy within the device, a host function.
#include <cstdio>
#include <vector>

__global__ void add(int* to, const int* from, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}

static void count_up(void* number) { ++*static_cast<int*>(number); }

int main() {
  constexpr int count = 2000;
  constexpr std::size_t bytes = count * sizeof(int);
  int *a, *b, *c, *host, called = 0;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMallocHost(&host, bytes);
  for (int i = 0; i < count; ++i) host[i] = i;
  cudaStream_t one, two;
  cudaEvent_t filled, copied, begin, end;
  cudaStreamCreate(&one);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&copied, cudaEventDisableTiming);
  cudaEventRecord(begin, one);
  cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, one);
  cudaMemsetAsync(b, 0, bytes, two);
  cudaMemsetAsync(reinterpret_cast<char*>(b) + 3, 1, 18, two);
  cudaEventRecord(filled, two);
  cudaStreamWaitEvent(one, filled, 0);
  add<<<(count + 127) / 128, 128, 0, one>>>(b, a, count);
  cudaEventRecord(copied, one);
  cudaStreamWaitEvent(two, copied, 0);
  cudaMemcpyAsync(c, b, bytes, cudaMemcpyDeviceToDevice, two);
  cudaLaunchHostFunc(two, count_up, &called);
  std::vector<int> out(count);
  cudaMemcpyAsync(out.data(), c, bytes, cudaMemcpyDeviceToHost, two);
  cudaStreamSynchronize(two);
  cudaEventRecord(end, one);
  cudaEventSynchronize(end);
  float milliseconds = -1;
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::vector<int> filled_bytes(count);
  for (int i = 3; i < 21; ++i) reinterpret_cast<char*>(filled_bytes.data())[i] = 1;
  bool right = called == 1 && milliseconds > 0;
  for (int i = 0; i < count; ++i) right &= out[i] == filled_bytes[i] + i;
  std::printf("streams %s, out[1] %d\n", right ? "right" : "wrong", out[1]);
  return right ? 0 : 1;
}
