// Three devices, each set up by a thread of its own: values go from device to device by peer copies, in streams that wait
// for each other's events, and are read there by a kernel of another device.
#include <cstdio>
#include <thread>
#include <vector>

__global__ void add(int* to, const int* from, int count, int more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i] + more;
}

constexpr int devices = 3, count = 3000;
constexpr std::size_t bytes = count * sizeof(int);

struct Part {
  int *values = nullptr, *arrived = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
};

static void set_up(Part* part, int device) {
  cudaSetDevice(device);
  cudaMalloc(&part->values, bytes);
  cudaMalloc(&part->arrived, bytes);
  cudaMemset(part->arrived, 0, bytes);
  cudaStreamCreate(&part->stream);
  cudaEventCreateWithFlags(&part->done, cudaEventDisableTiming);
}

int main() {
  int found = 0, current = -1, can = 0;
  cudaGetDeviceCount(&found);
  if (found != devices) {
    std::printf("relay wants %d devices, and there are %d\n", devices, found);
    return 1;
  }
  Part parts[devices];
  for (int d = 0; d < devices; ++d) std::thread(set_up, &parts[d], d).join();
  cudaGetDevice(&current);
  bool right = current == 0;
  std::vector<int> in(count), out(count);
  for (int i = 0; i < count; ++i) in[i] = 7 * i;
  cudaMemcpyAsync(parts[0].values, in.data(), bytes, cudaMemcpyHostToDevice, parts[0].stream);
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    Part& here = parts[d];
    if (d > 0) cudaStreamWaitEvent(here.stream, parts[d - 1].done, 0);
    const int* from = d > 0 ? here.arrived : here.values;
    add<<<(count + 255) / 256, 256, 0, here.stream>>>(here.values, from, count, d + 1);
    if (d + 1 < devices)
      cudaMemcpyPeerAsync(parts[d + 1].arrived, d + 1, here.values, d, bytes, here.stream);
    cudaEventRecord(here.done, here.stream);
  }
  cudaDeviceSynchronize();
  // Device 1 adds what lies on device 2 to what it has.
  cudaSetDevice(1);
  cudaDeviceCanAccessPeer(&can, 1, 2);
  right &= can == 1 && cudaDeviceEnablePeerAccess(2, 0) == cudaSuccess;
  add<<<(count + 255) / 256, 256>>>(parts[1].arrived, parts[2].values, count, 100);
  cudaMemcpy(out.data(), parts[1].arrived, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; ++i) right &= out[i] == 7 * i + 6 + 100;
  // A plain copy knows by the addresses where memory is.
  cudaMemcpy(parts[0].arrived, parts[1].arrived, bytes, cudaMemcpyDefault);
  cudaSetDevice(0);
  cudaMemcpy(out.data(), parts[0].arrived, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; ++i) right &= out[i] == 7 * i + 6 + 100;
  cudaPointerAttributes attributes;
  right &= cudaPointerGetAttributes(&attributes, parts[2].values) == cudaSuccess && attributes.device == 2;
  std::printf("relay %s, out[1] %d\n", right ? "right" : "wrong", out[1]);
  return right ? 0 : 1;
}
