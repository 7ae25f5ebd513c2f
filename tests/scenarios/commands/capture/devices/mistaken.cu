// Mistakes with several devices, each of which gives the error of hardware; at the end a kernel uses memory of another
// device that its own does not see.
#include <cstdio>

__global__ void set(int* to) { *to = 5; }

int main() {
  int *there = nullptr, *here = nullptr, can = -1;
  cudaStream_t stream;
  cudaEvent_t event;
  std::printf("set device 2: %d\n", cudaSetDevice(2));
  cudaSetDevice(1);
  cudaMalloc(&there, 4);
  cudaStreamCreate(&stream);
  cudaEventCreate(&event);
  cudaSetDevice(0);
  cudaMalloc(&here, 4);
  set<<<1, 1, 0, stream>>>(here);
  std::printf("launch into a stream of device 1: %d\n", cudaGetLastError());
  std::printf("record an event of device 1: %d\n", cudaEventRecord(event, nullptr));
  std::printf("copy from the wrong device: %d\n", cudaMemcpyPeer(here, 0, there, 0, 4));
  std::printf("copy to no device: %d\n", cudaMemcpyPeer(here, 9, there, 1, 4));
  cudaDeviceCanAccessPeer(&can, 0, 0);
  std::printf("sees itself: %d\n", can);
  std::printf("disable: %d\n", cudaDeviceDisablePeerAccess(1));
  std::printf("enable: %d\n", cudaDeviceEnablePeerAccess(1, 0));
  std::printf("enable again: %d\n", cudaDeviceEnablePeerAccess(1, 0));
  set<<<1, 1>>>(there);
  std::printf("kernel: %d\n", cudaDeviceSynchronize());
  std::printf("disable: %d\n", cudaDeviceDisablePeerAccess(1));
  set<<<1, 1>>>(there);
  std::printf("kernel: %d\n", cudaDeviceSynchronize());
}
